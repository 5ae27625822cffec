// The thread of a store as a further router of the process reaches it: through a port, past the first router.

import type { MessagePort } from 'node:worker_threads';
import type { StoreWorker } from './client.ts';
import type { StoreAnswer, StoreTask } from './messages.ts';

interface Awaited {
  resolve(answer: StoreAnswer): void;
  reject(error: Error): void;
}

export class PortWorker implements StoreWorker {
  readonly #port: MessagePort;
  /** Batches are answered in their order. */
  readonly #awaited: Awaited[] = [];
  #isClosed = false;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', (answer: StoreAnswer) => this.#awaited.shift()?.resolve(answer));
    port.on('close', () => this.#end());
    port.unref();
  }

  run(task: StoreTask, handedOver: readonly (ArrayBuffer | MessagePort)[] = []): Promise<StoreAnswer> {
    if (task.kind !== 'batch') throw new Error(`The first router opens and closes stores: ${task.kind}`);
    if (this.#isClosed) return Promise.reject(new Error(GONE));
    return new Promise((resolve, reject) => {
      this.#awaited.push({ resolve, reject });
      this.#port.postMessage(task.batch, handedOver);
    });
  }

  async close(): Promise<void> {
    this.#port.close();
  }

  #end(): void {
    this.#isClosed = true;
    for (const { reject } of this.#awaited.splice(0)) reject(new Error(GONE));
  }
}

const GONE = 'the thread of the store has closed its port';
