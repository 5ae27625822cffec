// Which entries of an outbox are looked at next: the oldest first, past those of queues that refuse. However many
// entries of one queue pile up, the jobs of the others go on (Q12).
//
// A round begins at the oldest entry and goes on to the newest; a queue that refuses is left alone until the next
// round, which begins a while later.

import type { OutboxAsk } from '../core/queue/shapes.ts';

export class OutboxRounds {
  #lookedTo = 0;
  /** Up to here everything has gone but what belongs to queues that refused before. */
  #clearTo = 0;
  #refusing = new Set<string>();
  #refusedBefore: ReadonlySet<string> = new Set();

  begin(): void {
    // A round that was cut short has not come to all that queues of the one before left.
    const isOver = this.#lookedTo >= this.#clearTo || this.#haveAllRefused;
    this.#refusedBefore = isOver ? this.#refusing : new Set([...this.#refusedBefore, ...this.#refusing]);
    this.#clearTo = Math.max(this.#clearTo, this.#lookedTo);
    this.#lookedTo = 0;
    this.#refusing = new Set();
  }

  /** Entries that went may still be there: nothing is clear. */
  beginAnew(): void {
    this.#lookedTo = 0;
    this.#clearTo = 0;
    this.#refusing = new Set();
    this.#refusedBefore = new Set();
  }

  get next(): OutboxAsk {
    // Where all of them refuse again, what they hold is passed over in one.
    const after = this.#haveAllRefused ? Math.max(this.#lookedTo, this.#clearTo) : this.#lookedTo;
    return { after, refusing: [...this.#refusing] };
  }

  looked(to: number): void {
    this.#lookedTo = to;
  }

  /** Whether it is the first time in this round. */
  refused(queue: string): boolean {
    const isFirst = !this.#refusing.has(queue);
    this.#refusing.add(queue);
    return isFirst;
  }

  get #haveAllRefused(): boolean {
    return [...this.#refusedBefore].every((queue) => this.#refusing.has(queue));
  }
}
