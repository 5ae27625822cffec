// The thread of a store. A start begins it before it loads the engine's code, because both take about as long.

import { createOwnThread } from '../effects/threads/pool.ts';
import type { StoreWorker } from '../store/thread/client.ts';

/** With several routers it must see what the others send, between its tasks. */
export function startStoreThread(routers: number): StoreWorker {
  return createOwnThread('store', routers > 1);
}

/** `early`: the first store gets it. */
export class StoreThreads {
  readonly #routers: number;
  #early: StoreWorker | undefined;
  #closed: Promise<void> | undefined;

  constructor(routers: number, early: StoreWorker | undefined) {
    this.#routers = routers;
    this.#early = early;
  }

  readonly next = (): StoreWorker => {
    const thread = this.#early ?? startStoreThread(this.#routers);
    this.#early = undefined;
    return thread;
  };

  /** Ends the early one if no store of the configuration runs on a thread. The start does not wait for it. */
  closeUnused(): void {
    this.#closed = this.#early?.close();
    this.#early = undefined;
  }

  /** Resolves once `closeUnused` is done. */
  async close(): Promise<void> {
    await this.#closed;
  }
}
