// Receipts of jobs that a broker keeps: UUIDs v7 that increase in the order in which one engine took its jobs (F3).
// Random bits instead of the numbers of queue and store distinguish those of several engines.

import type { Clock } from '../../../../effects/clock.ts';
import type { Random } from '../../../../effects/random.ts';
import { writeReceipt } from '../../../../store/commands/queue/receipt.ts';

export class Receipts {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #queue: number;
  readonly #salt: number;
  #lastMs = 0;
  #lastSeq = 0;

  constructor(clock: Pick<Clock, 'nowMs'>, random: Pick<Random, 'uuid'>) {
    this.#clock = clock;
    const digits = random.uuid();
    this.#queue = Number.parseInt(digits.slice(0, 4), 16);
    this.#salt = Number.parseInt(digits.slice(4, 8), 16);
  }

  next(): { readonly id: string; readonly atMs: number } {
    this.#lastMs = Math.max(this.#lastMs, this.#clock.nowMs());
    const atMs = this.#lastMs;
    return { id: writeReceipt({ atMs, seq: ++this.#lastSeq, queue: this.#queue, salt: this.#salt }), atMs };
  }
}
