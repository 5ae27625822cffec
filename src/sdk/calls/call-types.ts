// The types of a call (SDK-1, SDK-12): its options, the overloads of `trigger`, and the types of payload and result
// that follow from its target.

import type { Answer, FunctionId, FunctionReference, Functions } from '../functions/functions.ts';
import type { Action, EnqueueCall, EnqueueReceipt, VoidCall } from './actions.ts';

/**
 * All options of a call except its function and its payload.
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
  /** `Enqueue(…)` or `Void()`; without it the call waits for the result. */
  readonly action?: A;
  /** Wait limit, including all retries and the time before the call is sent: 1 to 3 600 000. Default: the worker's. */
  readonly timeout_ms?: number | undefined;
  /** The same as `timeout_ms`. */
  readonly timeoutMs?: number | undefined;
  /** Passed to the handler in addition to the payload. */
  readonly metadata?: unknown;
  /** Repeats the call after errors whose `retryable` is true. */
  readonly retry?: RetryOptions | undefined;
  /** Stops waiting. The handler does not learn of it and may still take effect. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * How often a failed call is repeated. Only errors that guarantee that nothing was executed are retried.
 *
 * @example
 * import { registerWorker, type RetryOptions } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const retry: RetryOptions = { attempts: 5, backoff_ms: 100 };
 * await svc.trigger({ function_id: 'stock::take', payload: { sku: 'a1' }, retry });
 */
export interface RetryOptions {
  /** Number of attempts, the first one included: 1 to 100. */
  readonly attempts: number;
  /** Pause before the second attempt. It doubles for each further one, up to a minute, with random jitter. */
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
export type TriggerRequest<T extends Target, A extends Action | undefined = undefined> = CallOptions<A> &
  TargetField<T> &
  PayloadField<PayloadOf<T>>;

/** The id of a function, or what `registerFunction` returned. Both names mean the same. */
export type TargetField<T> =
  | { readonly function_id: T; readonly functionId?: undefined }
  | { readonly functionId: T; readonly function_id?: undefined };

/** The overloads of `trigger`; see `SvcWorker.trigger` for what it does. */
export interface Trigger {
  <In = Unset, Out = Unset>(
    function_id: WasWritten<Out> extends true ? FunctionId : never,
    ...args: CallArguments<NoInfer<In>, undefined>
  ): Promise<Out>;
  <const T extends Target, A extends Action | undefined = undefined>(
    function_id: T,
    ...args: CallArguments<PayloadOf<T>, A>
  ): Promise<Answer<A, ResultOf<T>>>;
  <In = Unset, Out = Unset>(request: ExplicitRequest<In, Out, undefined>): Promise<Out>;
  <In = Unset, Out = Unset>(request: ExplicitRequest<In, Out, EnqueueCall>): Promise<EnqueueReceipt>;
  <In = Unset, Out = Unset>(request: ExplicitRequest<In, Out, VoidCall>): Promise<undefined>;
  <const T extends Target, A extends Action | undefined = undefined>(
    request: TriggerRequest<T, A>,
  ): Promise<Answer<A, ResultOf<T>>>;
}

/** Arguments of `trigger` on a function's own handle. The payload is optional if the function takes none. */
export type CallArguments<In, A extends Action | undefined> = undefined extends In
  ? [payload?: In, options?: CallOptions<A>]
  : [payload: In, options?: CallOptions<A>];

type PayloadField<In> = undefined extends In ? { readonly payload?: In } : { readonly payload: In };

declare const unset: unique symbol;
/** Default of type arguments that count only when the user writes them: no value has this type. */
type Unset = typeof unset;

/** `any` matches every type, so it is handled before `Unset`. */
type WasWritten<T> = 0 extends 1 & T ? true : [T] extends [Unset] ? false : true;

type ExplicitRequest<In, Out, A extends Action | undefined> = Omit<CallOptions, 'action'> &
  TargetField<WasWritten<Out> extends true ? FunctionId : never> &
  (A extends undefined ? { readonly action?: A } : { readonly action: A }) &
  PayloadField<In>;

/** Untyped code must compile under `strict` (SDK-1): the result of an unknown function may be used as anything. */
// biome-ignore lint/suspicious/noExplicitAny: this alias is the one place where SDK-1 asks for it.
export type Untyped = any;

/** The target of a call. */
export type Target = FunctionId | FunctionReference<Untyped, Untyped>;

/** The payload of the target; `unknown` if the compiler does not know it. */
export type PayloadOf<T extends Target> = T extends keyof Functions
  ? FieldOf<Functions[T], 'in'>
  : T extends FunctionReference<infer In, Untyped>
    ? In
    : unknown;

/** The result of the target; any type if the compiler does not know it. */
export type ResultOf<T extends Target> = T extends keyof Functions
  ? FieldOf<Functions[T], 'out'>
  : T extends FunctionReference<Untyped, infer Out>
    ? Out
    : Untyped;

type FieldOf<Entry, Field extends string> = Entry extends Record<Field, infer Value> ? Value : unknown;
