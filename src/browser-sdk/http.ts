// The second door: for the page that answers HTTP requests. Few do, so all the others need not load it.

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
} from '../sdk/http.ts';
