// Answers of the engine itself to a request in flight.

import { type ErrorAnswer, errorAnswer } from './error-answer.ts';
import type { HandlerAnswer } from './handler-result.ts';

export const NO_CONTENT: HandlerAnswer = { status: 204, headers: [], body: undefined };
export const NOT_JSON = errorAnswer('BAD_REQUEST', 'The body is not valid JSON in UTF-8, or nested deeper than 128');
export const LATE = errorAnswer('TIMEOUT', 'No answer came within default_timeout');
export const OVERLOADED = errorAnswer(
  'OVERLOADED',
  'Too many requests are handled and wait (concurrency_request_limit)',
);
export const NO_ROOM = errorAnswer('OVERLOADED', 'The bodies of requests have reached their memory limit');

export function tooLarge(bytesMax: number): ErrorAnswer {
  return errorAnswer('PAYLOAD_TOO_LARGE', `The limit of the body is ${bytesMax} bytes (body_limit)`);
}
