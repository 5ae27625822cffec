// A separate entry point for pages that answer HTTP requests. Few pages do, and no other page loads it.

export { HttpAnswer, streamed } from '../sdk/triggers/http.ts';
export type { HttpHeaders, HttpReply, HttpRequest } from '../sdk/triggers/http-messages.ts';
export { type HttpMethod, type HttpTrigger, type HttpTriggerOptions, http } from '../sdk/triggers/trigger-kinds.ts';
