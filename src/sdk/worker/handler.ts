// What users write for a worker: handlers, the context that a handler gets (its class is in `calls/invocation.ts`), and
// middleware around handlers and calls. It refers to `SvcWorker`, and `SvcWorker` refers to it: types only.

import type { Action } from '../calls/actions.ts';
import type { TraceIds } from '../calls/trace-context.ts';
import type { Logger } from '../telemetry/telemetry.ts';
import type { SvcWorker } from './svc-worker.ts';

/**
 * The code of a function. It takes the payload and, if it needs it, the context; it returns the result or a promise
 * of it.
 *
 * @example
 * import type { Handler } from 'svc-sdk';
 *
 * export const add: Handler<{ x: number; y: number }, number> = ({ x, y }) => x + y;
 */
export type Handler<In, Out> = (payload: In, context: HandlerContext) => Out | PromiseLike<Out>;

/**
 * The second argument of every handler. It may be ignored: a value costs nothing until it is read, and calls made
 * inside a handler join its trace by themselves.
 *
 * @example
 * import { registerWorker, type HandlerContext } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * svc.registerFunction('mirror::fetch', async (url: string, { signal, attempt }: HandlerContext) => {
 *   const response = await fetch(url, { signal });
 *   return { status: response.status, attempt };
 * });
 */
export interface HandlerContext {
  /** The id under which this handler was called. */
  readonly function_id: string;
  /** The same as `function_id`. */
  readonly functionId: string;
  /** The id of this run in the engine. */
  readonly invocation_id: string;
  /** The trigger that fired, if there was one and the engine reported it. */
  readonly trigger: TriggerOrigin | undefined;
  /** The trace of this run and its parent span; undefined if it is not traced. */
  readonly trace: TraceIds | undefined;
  /** For queued jobs: counts from 1. Handlers of jobs must tolerate running twice. */
  readonly attempt: number | undefined;
  /** For queued jobs: the queue. */
  readonly queue: string | undefined;
  /** For queued jobs: the receipt of the caller that enqueued it. The same for every attempt. */
  readonly messageReceiptId: string | undefined;
  /** The same as `messageReceiptId`. */
  readonly receiptId: string | undefined;
  /**
   * For queued jobs: reports the progress of the job, up to 4 KiB of JSON. Every client with the receipt can read it.
   * Has no effect for calls that are not jobs.
   */
  progress(value: unknown): Promise<void>;
  /** When the caller stops waiting; undefined if it set no limit. */
  readonly deadline: Date | undefined;
  /** Aborted when the deadline passes, or at the end of `drain_timeout_ms`. Pass it to `fetch`, timers and streams. */
  readonly signal: AbortSignal;
  /** Logs for this function, as part of its trace. Never throws, never waits. */
  readonly logger: Logger;
  /** Entries that travel with the trace, through all calls of the chain. */
  readonly baggage: ReadonlyMap<string, string>;
  /** 1 at the start of a chain of calls, one more for each call that a handler makes. The limit of the engine is 64. */
  readonly depth: number;
  /** The worker of this handler, for code that calls other functions and did not create the worker. */
  readonly worker: SvcWorker;
  /** The metadata of the caller or of the trigger, in addition to the payload. */
  readonly metadata: unknown;
}

/**
 * The trigger that caused an invocation.
 *
 * @example
 * import type { HandlerContext, TriggerOrigin } from 'svc-sdk';
 *
 * export const isCron = (context: HandlerContext): boolean => {
 *   const origin: TriggerOrigin | undefined = context.trigger;
 *   return origin?.type === 'cron';
 * };
 */
export interface TriggerOrigin {
  /** Such as `http` or `cron`. */
  readonly type: string;
  /** The id that `registerTrigger` assigned. */
  readonly id: string;
}

/**
 * A handler about to run.
 *
 * @example
 * import { registerWorker, SvcError, type IncomingCall } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const tenantOf = ({ context }: IncomingCall) => context.baggage.get('tenant');
 * svc.use((call, next) => {
 *   const isFit = call.direction === 'outgoing' || tenantOf(call) !== undefined;
 *   if (!isFit) throw new SvcError('NO_TENANT', 'baggage entry tenant is missing');
 *   return next();
 * });
 */
export interface IncomingCall {
  readonly direction: 'incoming';
  readonly function_id: string;
  /** May be replaced before `next()`. Input schemas check it afterwards. */
  payload: unknown;
  readonly context: HandlerContext;
}

/**
 * A call about to leave.
 *
 * @example
 * import { registerWorker, type OutgoingCall } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const stamp = (call: OutgoingCall): void => {
 *   call.metadata = { origin: 'shop', given: call.metadata };
 * };
 * svc.use((call, next) => {
 *   if (call.direction === 'outgoing') stamp(call);
 *   return next();
 * });
 */
export interface OutgoingCall {
  readonly direction: 'outgoing';
  readonly function_id: string;
  readonly action: Action | undefined;
  /** May be replaced before `next()`. */
  payload: unknown;
  /** May be replaced before `next()`. */
  metadata: unknown;
}

/**
 * Runs around calls in both directions. It returns what the caller gets, usually the answer of `next()`. If it throws,
 * the call fails. It may call `next()` again to repeat the call.
 *
 * @example
 * import { registerWorker, type Middleware } from 'svc-sdk';
 *
 * const timed: Middleware = async (call, next) => {
 *   const start = performance.now();
 *   try {
 *     return await next();
 *   } finally {
 *     console.log(`${call.direction} ${call.function_id} ${performance.now() - start} ms`);
 *   }
 * };
 * registerWorker().use(timed);
 */
export type Middleware = (call: IncomingCall | OutgoingCall, next: () => Promise<unknown>) => unknown;

/**
 * The middlewares of one worker (SDK-12). The first one added is the outermost. A call pays nothing while no middleware
 * is used: the chain is built when the first one is added.
 */
export class MiddlewareChain {
  readonly #middlewares: Middleware[] = [];

  get isEmpty(): boolean {
    return this.#middlewares.length === 0;
  }

  add(middleware: Middleware): void {
    this.#middlewares.push(middleware);
  }

  /** Runs the call through every middleware and then through `last`. */
  run<Call extends IncomingCall | OutgoingCall>(call: Call, last: (call: Call) => unknown): Promise<unknown> {
    const step = async (at: number): Promise<unknown> => {
      const middleware = this.#middlewares[at];
      return middleware === undefined ? last(call) : middleware(call, () => step(at + 1));
    };
    return step(0);
  }
}
