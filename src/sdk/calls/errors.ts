// The error class of the SDK, the functions that classify errors, and the errors with which the handler of a queued job
// controls its queue (SDK-6).

import { isRetryable } from '../../protocol/frames/retryable.ts';

/** Marks instances across copies of this package, for which `instanceof` fails. */
const BRAND = Symbol.for('svc.error');

/**
 * What failed on the other side of the wire, as that side reported it: its stack and its text.
 *
 * @example
 * import { isSvcError } from 'svc-sdk';
 *
 * export function remoteStack(error: unknown): string | undefined {
 *   return isSvcError(error) ? error.remote?.stack : undefined;
 * }
 */
export interface RemoteFailure {
  readonly message: string;
  /** Stack of the handler that threw, if it sent one. */
  readonly stack?: string;
}

/**
 * Everything an `SvcError` can carry in addition to code and message.
 *
 * @example
 * import { SvcError, type SvcErrorDetails } from 'svc-sdk';
 *
 * const details: SvcErrorDetails = { retryable: true };
 * export const busy = new SvcError('WAREHOUSE_BUSY', 'stock is being counted', details);
 */
export interface SvcErrorDetails {
  /** The function whose call failed. */
  readonly function_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly cause?: unknown;
  readonly remote?: RemoteFailure | undefined;
  /** Whether the same call may be repeated. The default follows from the code. */
  readonly retryable?: boolean | undefined;
  /** On `enqueue_error`: the refusal in words. */
  readonly enqueue_error?: string | undefined;
  /** On `enqueue_error`: the refusal as a word, such as `QUEUE_NOT_FOUND`. */
  readonly reason?: string | undefined;
}

/**
 * An error of the SDK, of the engine or of a handler. Handlers may throw their own: code and message reach the
 * caller unchanged. docs/errors.md explains every code of the SDK and of the engine.
 *
 * @example
 * import { registerWorker, SvcError } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * svc.registerFunction('stock::take', (order: { sku: string }) => {
 *   if (order.sku === '') throw new SvcError('NO_SKU', 'sku is empty: expected an article number');
 *   return { taken: true };
 * });
 */
export class SvcError extends Error {
  // Only known fields are set: a printed error must not end in a list of `undefined`.
  declare readonly name: 'SvcError';
  /** Why the call failed, as a word to branch on: a code of the engine, or one that the handler chose. */
  readonly code: string;
  /** Whether the same call may be repeated. */
  readonly retryable: boolean;
  /** The function whose call failed. */
  declare readonly function_id?: string;
  /** The same as `function_id`. */
  declare readonly functionId?: string;
  /** The trace of the call, to look up in the console. */
  declare readonly trace_id?: string;
  /** The failure as the other side reported it; absent when the error arose here. */
  declare readonly remote?: RemoteFailure;
  /** On `enqueue_error`: the refusal in words. */
  declare readonly enqueue_error?: string;
  /** On `enqueue_error`: the refusal as a word, such as `QUEUE_NOT_FOUND`. */
  declare readonly reason?: string;

  static {
    // On the prototype, so that the first line of every stack has it.
    Object.defineProperty(SvcError.prototype, 'name', { value: 'SvcError', configurable: true });
    Object.defineProperty(SvcError.prototype, 'functionId', {
      get(this: SvcError) {
        return this.function_id;
      },
    });
    Object.defineProperty(SvcError.prototype, BRAND, { value: true });
  }

  constructor(code: string, message: string, details: SvcErrorDetails = {}) {
    const { retryable, cause, ...fields } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable ?? isRetryable(code);
    for (const [name, value] of Object.entries(fields)) {
      if (value !== undefined) Object.defineProperty(this, name, { value, enumerable: true });
    }
  }
}

/**
 * Whether a value is an `SvcError`, also one made by another copy of this package. With a code: whether it has that
 * code, in upper or lower case.
 *
 * @example
 * import { isSvcError, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * try {
 *   await svc.trigger({ function_id: 'stock::take', payload: { sku: 'a1' } });
 * } catch (error) {
 *   if (!isSvcError(error, 'NO_SKU')) throw error;
 * }
 */
export function isSvcError(error: unknown, code?: string): error is SvcError {
  if (!(error instanceof Error) || !(BRAND in error)) return false;
  return code === undefined || ('code' in error && String(error.code).toUpperCase() === code.toUpperCase());
}

/**
 * The deadline passed. It is unknown whether the handler took effect; it may still be running.
 *
 * @example
 * import { isTimeout } from 'svc-sdk';
 *
 * export const hint = (error: unknown) => (isTimeout(error) ? 'still running, look at the trace' : 'failed');
 */
export const isTimeout = (error: unknown): error is SvcError => isSvcError(error, 'TIMEOUT');

/**
 * No connected worker offers the function. Nothing was executed.
 *
 * @example
 * import { isFunctionNotFound } from 'svc-sdk';
 *
 * export const hint = (error: unknown) => (isFunctionNotFound(error) ? 'is the worker running?' : 'failed');
 */
export const isFunctionNotFound = (error: unknown): error is SvcError => isSvcError(error, 'function_not_found');

/**
 * A limit on running or waiting calls is reached, here or in the engine. Nothing was executed.
 *
 * @example
 * import { isOverloaded } from 'svc-sdk';
 *
 * export const statusFor = (error: unknown) => (isOverloaded(error) ? 503 : 500);
 */
export const isOverloaded = (error: unknown): error is SvcError => isSvcError(error, 'OVERLOADED');

/**
 * A connection on the way was lost, the worker's or this one. It is unknown whether the call took effect.
 *
 * @example
 * import { isInvocationStopped } from 'svc-sdk';
 *
 * export const mayHaveRun = (error: unknown) => isInvocationStopped(error);
 */
export const isInvocationStopped = (error: unknown): error is SvcError => isSvcError(error, 'invocation_stopped');

/**
 * The engine refused: the credential is missing or wrong, or this worker has no access to that id.
 *
 * @example
 * import { isRefused } from 'svc-sdk';
 *
 * export const statusFor = (error: unknown) => (isRefused(error) ? 403 : 500);
 */
export const isRefused = (error: unknown): error is SvcError =>
  isSvcError(error, 'UNAUTHORIZED') || isSvcError(error, 'FORBIDDEN');

/**
 * The queue did not accept the job; `reason` and `enqueue_error` say why. No job exists.
 *
 * @example
 * import { isEnqueueRefused } from 'svc-sdk';
 *
 * export const why = (error: unknown) => (isEnqueueRefused(error) ? error.reason : undefined);
 */
export const isEnqueueRefused = (error: unknown): error is SvcError => isSvcError(error, 'enqueue_error');

/**
 * Thrown by the handler of a queued job: this attempt failed, and the next one starts after the given time instead of
 * the queue's own backoff. The limit is 30 days. The failed attempt counts.
 *
 * @example
 * import { registerWorker, RetryLater } from 'svc-sdk';
 *
 * registerWorker().registerFunction('crm::push', async (lead: { id: string }) => {
 *   const response = await fetch('https://crm.example.org/leads', { method: 'POST', body: JSON.stringify(lead) });
 *   if (response.status === 429) throw new RetryLater({ after_ms: 60_000 });
 * });
 */
export class RetryLater extends SvcError {
  /** Travels to the queue in addition to code and message. */
  readonly after_ms: number;

  constructor({ after_ms, message = 'try again later' }: { readonly after_ms: number; readonly message?: string }) {
    super('RETRY_LATER', message);
    if (!(Number.isFinite(after_ms) && after_ms >= 0)) {
      throw new SvcError('INVALID_ARGUMENTS', `RetryLater: after_ms is ${after_ms}, expected milliseconds from 0`);
    }
    this.after_ms = after_ms;
  }
}

/**
 * Thrown by the handler of a queued job: another attempt is of no use. The job becomes a dead letter at once.
 *
 * @example
 * import { Fatal, registerWorker } from 'svc-sdk';
 *
 * registerWorker().registerFunction('mail::send', ({ to }: { to: string }) => {
 *   if (!to.includes('@')) throw new Fatal(`'${to}' is no address`);
 * });
 */
export class Fatal extends SvcError {
  constructor(message: string) {
    super('FATAL', message);
  }
}
