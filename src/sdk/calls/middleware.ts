// Functions around every handler and every outgoing call (SDK-12). A call pays nothing for this while no middleware is
// used: the chain is built when the first one is added.

import type { HandlerContext } from '../worker/context.ts';
import type { Action } from './actions.ts';

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

/** The middlewares of one worker. The first one added is the outermost. */
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
