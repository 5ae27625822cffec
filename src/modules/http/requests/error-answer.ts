// Answers that the engine creates itself: their status and text (H3).

import { ERROR_CODES, type ErrorCode } from '../../../protocol/frames/errors.ts';

export interface ErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Members next to `error`, for answers that have more to say. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: readonly string[];
}

/** Statuses after which a retry makes sense. */
const RETRY_STATUSES = new Set([429, 503]);
/** The status for each reason of a refused job (PD-33). */
const ENQUEUE_STATUSES: Readonly<Record<string, number>> = {
  QUEUE_NOT_FOUND: 400,
  GROUP_FIELD: 400,
  QUEUE_FULL: 429,
  PAYLOAD_TOO_LARGE: 413,
  STORAGE_FULL: 507,
  STORAGE_UNAVAILABLE: 503,
  SHUTTING_DOWN: 503,
  OVERLOADED: 503,
};

export function errorAnswer(code: ErrorCode, message: string): ErrorAnswer {
  return { status: ERROR_CODES[code].httpStatus, code, message };
}

/** The error with which a call ended: one of the engine, or one of the handler, which is 500. */
export function answerToFailure(error: unknown): ErrorAnswer {
  const { code, message, reason } = fieldsOf(error);
  const text = typeof message === 'string' ? message : 'The handler failed';
  if (code === 'enqueue_error' && typeof reason === 'string' && Object.hasOwn(ENQUEUE_STATUSES, reason)) {
    return { status: ENQUEUE_STATUSES[reason] ?? 500, code: reason, message: text };
  }
  if (typeof code !== 'string' || code === '') return { status: 500, code: 'invocation_failed', message: text };
  return { status: isKnown(code) ? ERROR_CODES[code].httpStatus : 500, code, message: text };
}

/** `errorId` is an id that a user can quote; the log contains it too. */
export function errorBody({ code, message, more }: ErrorAnswer, errorId: string | undefined): string {
  return JSON.stringify({ error: { code, message, ...(errorId !== undefined && { error_id: errorId }) }, ...more });
}

export function errorHeaders({ status, headers = [] }: ErrorAnswer): string[] {
  const retry = RETRY_STATUSES.has(status) ? ['retry-after', '1'] : [];
  return ['content-type', 'application/json', ...retry, ...headers];
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

function fieldsOf(error: unknown): { readonly code?: unknown; readonly message?: unknown; readonly reason?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}

export const NOT_JSON = errorAnswer('BAD_REQUEST', 'The body is not valid JSON in UTF-8, or nested deeper than 128');
export const LATE = errorAnswer('TIMEOUT', 'No answer came within default_timeout');
export const OVERLOADED = errorAnswer(
  'OVERLOADED',
  'Too many requests are handled and wait (concurrency_request_limit)',
);
export const BODIES_TOO_LARGE = errorAnswer('OVERLOADED', 'The bodies of requests have reached their memory limit');

export function tooLarge(bytesMax: number): ErrorAnswer {
  return errorAnswer('PAYLOAD_TOO_LARGE', `The limit of the body is ${bytesMax} bytes (body_limit)`);
}
