// Why a route of the console API failed: the one form in which every route reports it.

import type { ApiError, MissingModule } from '../../../console/api/envelope.ts';
import { Refusal } from '../../../core/calls/refusal.ts';
import { docUrl, ERROR_CODES, type ErrorCode } from '../../../protocol/frames/errors.ts';

export class ApiFailure extends Error {
  readonly status: number;
  readonly error: ApiError;
  /** In addition to the headers that every answer has. */
  readonly headers: readonly string[];

  constructor(status: number, error: ApiError, headers: readonly string[] = []) {
    super(error.message);
    this.name = 'ApiFailure';
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

export function failure(code: ErrorCode, message: string, details?: unknown): ApiFailure {
  const { httpStatus } = ERROR_CODES[code];
  return new ApiFailure(httpStatus, {
    code,
    message,
    doc_url: docUrl(code),
    ...(details !== undefined && { details }),
  });
}

export function notFound(kind: string, name: string, details?: unknown): ApiFailure {
  return failure('NOT_FOUND', `${kind} ${name} not found`, details);
}

export function missingModule(missing: MissingModule): ApiFailure {
  return failure('MODULE_MISSING', `This needs the module ${missing.module}, which is not loaded`, missing);
}

/** The error of a built-in function or of a handler, or a defect of the console. */
export function failureOf(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (error instanceof Refusal) return failureOfBody(error.toBody());
  return new ApiFailure(500, { code: 'invocation_failed', message: 'The engine failed; its log says why' });
}

/** The error that a call ended with. Codes that a handler made up are 500 (PD-39). */
export function failureOfBody(body: unknown): ApiFailure {
  const { code, message, reason, ...rest }: { code?: unknown; message?: unknown; reason?: unknown } = isObject(body)
    ? body
    : {};
  const text = typeof message === 'string' ? message : 'The handler failed';
  if (code === 'enqueue_error' && typeof reason === 'string') {
    return new ApiFailure(ENQUEUE_STATUSES[reason] ?? 500, { code: reason, message: text });
  }
  const name = typeof code === 'string' && code !== '' ? code : 'invocation_failed';
  const details = Object.keys(rest).length === 0 ? undefined : rest;
  const error = { code: name, message: text, ...(details !== undefined && { details }) };
  if (!isKnown(name)) return new ApiFailure(500, error);
  return new ApiFailure(STATUSES[name] ?? ERROR_CODES[name].httpStatus, { ...error, doc_url: docUrl(name) });
}

/** Here the console differs from HTTP routes, because no route promises that function (PD-39). */
const STATUSES: Partial<Readonly<Record<ErrorCode, number>>> = { function_not_found: 404 };

/** What the error of a refused job means here (PD-33). */
const ENQUEUE_STATUSES: Readonly<Record<string, number>> = {
  QUEUE_NOT_FOUND: 400,
  GROUP_FIELD: 400,
  INVALID_ARGUMENTS: 400,
  QUEUE_FULL: 429,
  PAYLOAD_TOO_LARGE: 413,
  STORAGE_FULL: 507,
  STORAGE_UNAVAILABLE: 503,
  SHUTTING_DOWN: 503,
};

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
