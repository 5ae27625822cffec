// Errors from the wire and to the wire.

import { isRetryable } from '../protocol/errors.ts';
import type { ErrorBody } from '../protocol/frames.ts';
import { parseTraceparent } from './baggage.ts';
import { isSvcError, SvcError } from './errors.ts';
import { isRecord } from './record.ts';

/** The error a caller sees for an answer that failed. */
export function errorFromAnswer(error: unknown, function_id: string, traceparent: string | undefined): SvcError {
  const trace_id = parseTraceparent(traceparent)?.trace_id;
  if (!isRecord(error) || typeof error.code !== 'string' || typeof error.message !== 'string') {
    return new SvcError('UNKNOWN', `unrecognisable error: ${JSON.stringify(error)}`, { function_id, trace_id });
  }
  const { code, message } = error;
  const stack = textOrNothing(error.stacktrace);
  return new SvcError(code, message, {
    function_id,
    trace_id,
    remote: stack === undefined ? { message } : { message, stack },
    // A stack means that a handler was running. The code may be that of a call it made itself, and says nothing about
    // what the handler had done before.
    retryable: stack === undefined && isRetryable(code),
    enqueue_error: textOrNothing(error.enqueue_error),
    reason: textOrNothing(error.reason),
  });
}

/** What is sent for whatever a handler threw. */
export function errorToAnswer(thrown: unknown): ErrorBody {
  if (!(thrown instanceof Error)) return { code: 'invocation_failed', message: describeThrown(thrown) };
  const code = isSvcError(thrown) && thrown.code !== '' ? thrown.code : 'invocation_failed';
  const body: ErrorBody = { code, message: thrown.message };
  if (typeof thrown.stack === 'string') body.stacktrace = thrown.stack;
  if (isSvcError(thrown)) {
    if (thrown.enqueue_error !== undefined) body.enqueue_error = thrown.enqueue_error;
    if (thrown.reason !== undefined) body.reason = thrown.reason;
  }
  return body;
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown;
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    // Cycles and big integers have no JSON; their own text has to do.
    return String(thrown);
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
