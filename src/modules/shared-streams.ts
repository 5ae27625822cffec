// Where the streams of the first router and the stream ports of the further ones meet. The stream module of each router
// and the code that connects the threads use it.

import type { HomeStreams } from './stream/outlets/home-streams.ts';
import type { FromOutlet, ToOutlet } from './stream/outlets/messages.ts';

export interface StreamOwner {
  /** Serves the port of one further router; returns what takes its messages. */
  connect(send: (message: ToOutlet) => void): (message: FromOutlet) => void;
}

export class SharedStreams {
  /** On a further router: the streams of the first one. `undefined`: this is the first one. */
  readonly home: HomeStreams | undefined;
  #owner: StreamOwner | undefined;

  constructor(home?: HomeStreams) {
    this.home = home;
  }

  /** On the first router: `undefined` without a stream server. */
  get owner(): StreamOwner | undefined {
    return this.#owner;
  }

  offer(owner: StreamOwner): void {
    this.#owner = owner;
  }
}
