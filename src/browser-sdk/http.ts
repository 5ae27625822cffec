// A separate entry point for pages that answer HTTP requests. Few pages do, and no other page loads it.

export {
  HttpAnswer,
  type HttpHeaders,
  type HttpMethod,
  type HttpReply,
  type HttpRequest,
  type HttpTrigger,
  type HttpTriggerOptions,
  http,
  streamed,
} from '../sdk/triggers/http.ts';
