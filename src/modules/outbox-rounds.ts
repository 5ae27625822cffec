// Decides which entries of an outbox are read next: the oldest first, without those of queues that refuse. However many
// entries of one queue pile up, the jobs of the others move on (Q12).
//
// A round begins at the oldest entry and continues to the newest. A queue that refuses is skipped until the next round,
// which begins a while later.

import type { OutboxAsk } from '../core/queue/shapes.ts';

export class OutboxRounds {
  #lookedTo = 0;
  /** Up to here every entry has gone, except those of queues that refused before. */
  #clearTo = 0;
  #refusing = new Set<string>();
  #refusedBefore: ReadonlySet<string> = new Set();

  begin(): void {
    // A round that was cut short has not reached all queues that refused in the one before.
    const isOver = this.#lookedTo >= this.#clearTo || this.#haveAllRefused;
    this.#refusedBefore = isOver ? this.#refusing : new Set([...this.#refusedBefore, ...this.#refusing]);
    this.#clearTo = Math.max(this.#clearTo, this.#lookedTo);
    this.#lookedTo = 0;
    this.#refusing = new Set();
  }

  /** Sent entries may still be there: the next round starts from the beginning. */
  beginAnew(): void {
    this.#lookedTo = 0;
    this.#clearTo = 0;
    this.#refusing = new Set();
    this.#refusedBefore = new Set();
  }

  get next(): OutboxAsk {
    // If all of them refuse again, their entries are skipped at once.
    const after = this.#haveAllRefused ? Math.max(this.#lookedTo, this.#clearTo) : this.#lookedTo;
    return { after, refusing: [...this.#refusing] };
  }

  looked(to: number): void {
    this.#lookedTo = to;
  }

  /** Returns whether it is the first time in this round. */
  refused(queue: string): boolean {
    const isFirst = !this.#refusing.has(queue);
    this.#refusing.add(queue);
    return isFirst;
  }

  get #haveAllRefused(): boolean {
    return [...this.#refusedBefore].every((queue) => this.#refusing.has(queue));
  }
}
