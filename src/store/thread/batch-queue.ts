// The batches of several routers at the thread of one store. Those that have arrived share a transaction, and so a
// sync: otherwise each router would pay for syncs of its own.
//
// Invariant: the batches of one router run in their order. Two of them never share a transaction, because the first is
// answered while the second runs.

import type { BatchAnswer } from './messages.ts';

interface Queued {
  readonly from: unknown;
  readonly batch: ArrayBuffer;
  readonly done: (answer: BatchAnswer) => void;
}

interface BatchQueueOptions {
  /** Returns an answer for each. */
  readonly run: (batches: readonly ArrayBuffer[]) => BatchAnswer[];
  /** Calls it when what has arrived is in the queue. */
  readonly afterTurn: (task: () => void) => void;
}

export class BatchQueue {
  readonly #options: BatchQueueOptions;
  #queued: Queued[] = [];
  #isDue = false;

  constructor(options: BatchQueueOptions) {
    this.#options = options;
  }

  /** `from`: the router. */
  run(from: unknown, batch: ArrayBuffer, done: (answer: BatchAnswer) => void): void {
    this.#queued.push({ from, batch, done });
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.afterTurn(() => this.#runNext());
  }

  #runNext(): void {
    const seen = new Set<unknown>();
    const now: Queued[] = [];
    const later: Queued[] = [];
    for (const queued of this.#queued) {
      (seen.has(queued.from) ? later : now).push(queued);
      seen.add(queued.from);
    }
    this.#queued = later;
    const answers = this.#options.run(now.map(({ batch }) => batch));
    for (const [at, { done }] of now.entries()) done(answers[at] ?? { failure: 'the store answered too few batches' });
    this.#isDue = this.#queued.length > 0;
    if (this.#isDue) this.#options.afterTurn(() => this.#runNext());
  }
}
