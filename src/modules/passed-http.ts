// The HTTP requests that a further router of the process has accepted and the first one answers: those of the console,
// of the engine's own paths, and of routes that only the first router has. The HTTP module of each router and the code
// that connects the threads meet here.

import type { HttpExchange } from '../transport/http.ts';
import type { Admission, PendingAdmission, UpgradeRequest } from '../transport/socket.ts';

/** What is read of an upgrade request to admit it. */
export type SocketRequest = Pick<UpgradeRequest, 'remoteAddress' | 'header' | 'headers'>;

export interface HttpTaker {
  /** Answers the request, at once or later. */
  handle(exchange: HttpExchange): void;
  admit(request: SocketRequest): Admission | PendingAdmission;
}

export class PassedHttp {
  /** On a further router: passes requests on to the first one. `undefined`: this is the first one. */
  readonly first: HttpTaker | undefined;
  #taker: HttpTaker | undefined;

  constructor(first?: HttpTaker) {
    this.first = first;
  }

  /** On the first router: `undefined` without an HTTP port. */
  get taker(): HttpTaker | undefined {
    return this.#taker;
  }

  /** Returns a function that ends it. */
  offer(taker: HttpTaker): () => void {
    this.#taker = taker;
    return () => {
      if (this.#taker === taker) this.#taker = undefined;
    };
  }
}
