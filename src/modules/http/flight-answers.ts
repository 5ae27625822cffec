// What the engine itself answers to a request on its way.

import { type ErrorAnswer, errorAnswer } from './error-answer.ts';
import type { HandlerAnswer } from './handler-result.ts';

export const NO_CONTENT: HandlerAnswer = { status: 204, headers: [], body: undefined };
export const NOT_JSON = errorAnswer('BAD_REQUEST', 'The body is not valid JSON in UTF-8, or nested deeper than 128');
export const LATE = errorAnswer('TIMEOUT', 'No answer came within default_timeout');
export const OVERLOADED = errorAnswer(
  'OVERLOADED',
  'As many requests are handled and wait as may (concurrency_request_limit)',
);
export const NO_ROOM = errorAnswer('OVERLOADED', 'The bodies of requests take as much memory as they may');

export function tooLarge(bytesMax: number): ErrorAnswer {
  return errorAnswer('PAYLOAD_TOO_LARGE', `The body may have at most ${bytesMax} bytes (body_limit)`);
}
