// Converts errors from and to the wire.

import type { ErrorBody } from '../../protocol/frames/frames.ts';
import { isRetryable } from '../../protocol/frames/retryable.ts';
import { isRecord } from '../../protocol/json/record.ts';
import { isSvcError, SvcError } from './errors.ts';
import { parseTraceparent } from './trace-context.ts';

/** The error that a caller gets for a failed answer. */
export function errorFromAnswer(error: unknown, function_id: string, traceparent: string | undefined): SvcError {
  const trace_id = parseTraceparent(traceparent)?.trace_id;
  if (!isRecord(error) || typeof error.code !== 'string' || typeof error.message !== 'string') {
    return new SvcError('UNKNOWN', `unrecognisable error: ${describe(error)}`, { function_id, trace_id });
  }
  const { code, message } = error;
  const stack = textOrNothing(error.stacktrace);
  return new SvcError(code, message, {
    function_id,
    trace_id,
    remote: stack === undefined ? { message } : { message, stack },
    // A stack means that a handler was running. The code may come from a call that the handler made, and says nothing
    // about what the handler had done before.
    retryable: stack === undefined && isRetryable(code),
    enqueue_error: textOrNothing(error.enqueue_error),
    reason: textOrNothing(error.reason),
  });
}

/** What is sent for a value that a handler threw. */
export function errorToAnswer(thrown: unknown): ErrorBody {
  if (!(thrown instanceof Error))
    return { code: 'invocation_failed', message: typeof thrown === 'string' ? thrown : describe(thrown) };
  const code = isSvcError(thrown) && thrown.code !== '' ? thrown.code : 'invocation_failed';
  const body: ErrorBody = { code, message: thrown.message };
  if (typeof thrown.stack === 'string') body.stacktrace = thrown.stack;
  if (isSvcError(thrown)) {
    if (thrown.enqueue_error !== undefined) body.enqueue_error = thrown.enqueue_error;
    if (thrown.reason !== undefined) body.reason = thrown.reason;
    if ('after_ms' in thrown && typeof thrown.after_ms === 'number') body.after_ms = thrown.after_ms;
  }
  return body;
}

function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Cycles, big integers and values nested too deep have no JSON, and their `toString` may throw as well.
    return typeof value === 'bigint' ? String(value) : Object.prototype.toString.call(value);
  }
}

function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
