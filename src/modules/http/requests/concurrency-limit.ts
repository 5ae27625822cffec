// Limits how many requests are handled at a time. The others wait for their turn, a limited number for a limited time
// (L1).

import { NOT_SHARED, type SharedCount } from '../../../core/limits/connection-counts.ts';

export interface Waiter {
  /** The request is admitted. */
  admitted(): void;
  /** It waited for too long. */
  expired(): void;
}

interface Waiting {
  readonly waiter: Waiter;
  readonly sinceMs: number;
}

const WAIT_MS_MAX = 5_000;

export class ConcurrencyLimit {
  readonly #shared: SharedCount;
  readonly #sharedWaiting: SharedCount;
  #limit = 1;
  #running = 0;
  #freed = 0;
  #isHandingOn = false;
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();

  /** `shared`: the requests that all routers handle. `sharedWaiting`: those that wait for a turn. */
  constructor(limit: number, shared = NOT_SHARED, sharedWaiting = NOT_SHARED) {
    this.#shared = shared;
    this.#sharedWaiting = sharedWaiting;
    this.setLimit(limit);
  }

  /** A larger limit admits more at once; a smaller one does not end admitted requests. */
  setLimit(limit: number): void {
    this.#limit = Math.max(1, limit);
    // Each time from the front: an admitted request may end at once, and admits the next itself.
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    for (let [next] = this.#waiting; next !== undefined && this.tryEnter(); [next] = this.#waiting) this.#admit(next);
  }

  /** Takes a turn if the limit allows one; it ends with `leave`. */
  tryEnter(): boolean {
    if (this.#running + this.#shared.elsewhere >= this.#limit) return false;
    this.#setRunning(this.#running + 1);
    return true;
  }

  /** Waits for a turn. Returns a function that stops waiting; `undefined`: too many wait already. */
  wait(waiter: Waiter, nowMs: number): (() => void) | undefined {
    if (this.#waiting.size + this.#sharedWaiting.elsewhere >= this.#limit) return undefined;
    const waiting = { waiter, sinceMs: nowMs };
    this.#waiting.add(waiting);
    this.#sharedWaiting.note(this.#waiting.size);
    return () => this.#waitsNoMore(waiting);
  }

  #waitsNoMore(waiting: Waiting): void {
    this.#waiting.delete(waiting);
    this.#sharedWaiting.note(this.#waiting.size);
  }

  /** Ends a turn; the request that waited longest gets the next one. */
  leave(): void {
    this.#freed++;
    // An admitted request may be refused at once and end its turn: a thousand of those would overflow the stack.
    if (this.#isHandingOn) return;
    this.#isHandingOn = true;
    try {
      while (this.#freed > 0) {
        this.#freed--;
        this.#handOn();
      }
    } finally {
      this.#isHandingOn = false;
    }
  }

  #handOn(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#running > this.#limit) return this.#setRunning(this.#running - 1);
    this.#admit(next);
  }

  #setRunning(running: number): void {
    this.#running = running;
    this.#shared.note(running);
  }

  #admit(next: Waiting): void {
    this.#waitsNoMore(next);
    next.waiter.admitted();
  }

  /** Removes those that waited too long, and admits those for which other routers have room. Called periodically. */
  expire(nowMs: number): void {
    this.#admitWaiting();
    for (const waiting of [...this.#waiting]) {
      if (nowMs - waiting.sinceMs < WAIT_MS_MAX) return;
      this.#waitsNoMore(waiting);
      waiting.waiter.expired();
    }
  }
}
