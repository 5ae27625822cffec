// The order in which the entries of an outbox are read and sent. Pure.

import type { OutboxAsk } from '../core/queue/shapes.ts';

/**
 * Decides which entries are read next: the oldest first, without those of queues that refuse. However many entries of
 * one queue pile up, the jobs of the others move on (Q12).
 *
 * A round begins at the oldest entry and continues to the newest. A queue that refuses is skipped until the next round,
 * which begins a while later.
 */
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
  restart(): void {
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

/**
 * Sends the jobs of one page: all at once, except those of one line (a group of a FIFO queue), which are sent one after
 * the other. If one of them is refused, the later ones are not sent, because they could overtake it if the queue takes
 * jobs again meanwhile (F3). The line is `undefined` where order does not matter. `done` is called for each sent job
 * with whether it was taken.
 */
export function sendInLines<T>(
  jobs: readonly T[],
  lineOf: (job: T) => string | undefined,
  send: (job: T, done: (isTaken: boolean) => void) => void,
  allDone: () => void,
): void {
  const lines = new Map<string | T, T[]>();
  for (const job of jobs) {
    const name = lineOf(job) ?? job;
    const line = lines.get(name);
    if (line === undefined) lines.set(name, [job]);
    else line.push(job);
  }
  let left = lines.size;
  const sendFrom = (line: readonly T[], at: number): void => {
    const job = line[at];
    if (job !== undefined) send(job, (isTaken) => sendFrom(line, isTaken ? at + 1 : line.length));
    else if (--left === 0) allDone();
  };
  for (const line of [...lines.values()]) sendFrom(line, 0);
}
