// Functions around every handler and every outgoing call (SDK-12). A call pays nothing for this while no middleware is
// used: the chain is built when the first one is added.

import type { IncomingCall, Middleware, OutgoingCall } from '../worker/handler.ts';

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
