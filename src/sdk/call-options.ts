// What a caller can say about a call, and how the compiler reads it (SDK-1, SDK-12).

import type { Action, EnqueueCall, EnqueueReceipt, VoidCall } from './actions.ts';
import type { Answer, FunctionId } from './functions.ts';
import type { PayloadOf, ResultOf, Target } from './target.ts';

/**
 * Everything about a call except where it goes and what it carries.
 *
 * @example
 * import { registerWorker, type CallOptions } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const patient: CallOptions = { timeout_ms: 120_000, retry: { attempts: 3, backoff_ms: 200 } };
 * const report = await svc.trigger({ function_id: 'reports::build', payload: { year: 2026 }, ...patient });
 * console.log(report.pages);
 */
export interface CallOptions<A extends Action | undefined = undefined> {
  /** `Enqueue(…)` or `Void()`; absent means that the call waits for the result. */
  readonly action?: A;
  /** How long to wait, all retries and any time without a connection included: 1 to 3 600 000. Else the worker's. */
  readonly timeout_ms?: number | undefined;
  /** Given to the handler beside the payload. */
  readonly metadata?: unknown;
  /** Repeats the call after errors whose `retryable` is true. */
  readonly retry?: RetryOptions | undefined;
  /** Stops waiting. The handler is not told and may still take effect. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * How often a failed call is made again. Only errors that promise that nothing was executed are retried.
 *
 * @example
 * import { registerWorker, type RetryOptions } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const retry: RetryOptions = { attempts: 5, backoff_ms: 100 };
 * await svc.trigger({ function_id: 'stock::take', payload: { sku: 'a1' }, retry });
 */
export interface RetryOptions {
  /** All tries together, the first one included: 1 to 100. */
  readonly attempts: number;
  /** Pause before the second try; doubled before each further one, up to a minute, and spread at random. */
  readonly backoff_ms: number;
}

/**
 * One call.
 *
 * @example
 * import { registerWorker, type TriggerRequest } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const request: TriggerRequest<string> = { function_id: 'stock::take', payload: { sku: 'a1' }, timeout_ms: 5_000 };
 * await svc.trigger(request);
 */
export type TriggerRequest<T extends Target, A extends Action | undefined = undefined> = CallOptions<A> & {
  /** The id of a function, or what `registerFunction` returned. */
  readonly function_id: T;
} & PayloadField<PayloadOf<T>>;

/** The ways to write a call; see `SvcWorker.trigger` for what it does. */
export interface Trigger {
  <In = Unset, Out = Unset>(request: ExplicitRequest<In, Out, undefined>): Promise<Out>;
  <In = Unset, Out = Unset>(request: ExplicitRequest<In, Out, EnqueueCall>): Promise<EnqueueReceipt>;
  <In = Unset, Out = Unset>(request: ExplicitRequest<In, Out, VoidCall>): Promise<undefined>;
  <const T extends Target, A extends Action | undefined = undefined>(
    request: TriggerRequest<T, A>,
  ): Promise<Answer<A, ResultOf<T>>>;
}

/** Arguments of `trigger` on a function's own handle. The payload may be left out if the function takes none. */
export type CallArguments<In, A extends Action | undefined> = undefined extends In
  ? [payload?: In, options?: CallOptions<A>]
  : [payload: In, options?: CallOptions<A>];

type PayloadField<In> = undefined extends In ? { readonly payload?: In } : { readonly payload: In };

declare const unset: unique symbol;
/** Default of type arguments that count only when the user wrote them down: no value has this type. */
type Unset = typeof unset;

type ExplicitRequest<In, Out, A extends Action | undefined> = Omit<CallOptions, 'action'> & {
  readonly function_id: WasWritten<Out> extends true ? FunctionId : never;
} & (A extends undefined ? { readonly action?: A } : { readonly action: A }) &
  PayloadField<In>;

/** `any` fits every type, so it must be told apart before `Unset`. */
type WasWritten<T> = 0 extends 1 & T ? true : [T] extends [Unset] ? false : true;
