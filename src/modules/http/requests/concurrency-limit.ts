// Limits how many requests are handled at a time. The others wait for their turn, a limited number for a limited time
// (L1).

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
  #limit = 1;
  #running = 0;
  #freed = 0;
  #isHandingOn = false;
  /** In order of arrival. */
  readonly #waiting = new Set<Waiting>();

  constructor(limit: number) {
    this.setLimit(limit);
  }

  /** A larger limit admits more at once; a smaller one does not end admitted requests. */
  setLimit(limit: number): void {
    this.#limit = Math.max(1, limit);
    // Each time from the front: an admitted request may end at once, and admits the next itself.
    for (let [next] = this.#waiting; next !== undefined && this.tryEnter(); [next] = this.#waiting) this.#admit(next);
  }

  /** Takes a turn if the limit allows one; it ends with `leave`. */
  tryEnter(): boolean {
    if (this.#running >= this.#limit) return false;
    this.#running++;
    return true;
  }

  /** Waits for a turn. Returns a function that stops waiting; `undefined`: too many wait already. */
  wait(waiter: Waiter, nowMs: number): (() => void) | undefined {
    if (this.#waiting.size >= this.#limit) return undefined;
    const waiting = { waiter, sinceMs: nowMs };
    this.#waiting.add(waiting);
    return () => void this.#waiting.delete(waiting);
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
    if (next === undefined || this.#running > this.#limit) {
      this.#running--;
      return;
    }
    this.#admit(next);
  }

  #admit(next: Waiting): void {
    this.#waiting.delete(next);
    next.waiter.admitted();
  }

  /** Removes those that waited too long; called periodically. */
  expire(nowMs: number): void {
    for (const waiting of [...this.#waiting]) {
      if (nowMs - waiting.sinceMs < WAIT_MS_MAX) return;
      this.#waiting.delete(waiting);
      waiting.waiter.expired();
    }
  }
}
