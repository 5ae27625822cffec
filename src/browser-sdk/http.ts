// A separate entry point for pages that answer HTTP requests. Few pages do, and no other page loads it.

export { HttpAnswer, type HttpHeaders, type HttpReply, type HttpRequest, streamed } from '../sdk/triggers/http.ts';
export { type HttpMethod, type HttpTrigger, type HttpTriggerOptions, http } from '../sdk/triggers/trigger-kinds.ts';
