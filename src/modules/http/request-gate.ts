// How many requests are handled at a time. Those above wait for their turn, a bounded number for a bounded time (L1).

export interface Waiter {
  /** Its turn has come. */
  admitted(): void;
  /** It waited for too long. */
  expired(): void;
}

interface Waiting {
  readonly waiter: Waiter;
  readonly sinceMs: number;
}

const WAIT_MS_MAX = 5_000;

export class RequestGate {
  #limit = 1;
  #running = 0;
  #freed = 0;
  #isHandingOn = false;
  /** In the order they came. */
  readonly #waiting = new Set<Waiting>();

  constructor(limit: number) {
    this.setLimit(limit);
  }

  /** More may enter at once; beyond a smaller one those inside stay. */
  setLimit(limit: number): void {
    this.#limit = Math.max(1, limit);
    // Each time from the front: who is admitted may end at once, and lets the next in itself.
    for (let [next] = this.#waiting; next !== undefined && this.tryEnter(); [next] = this.#waiting) this.#admit(next);
  }

  /** Whether there is room: then a place is taken, to be given back with `leave`. */
  tryEnter(): boolean {
    if (this.#running >= this.#limit) return false;
    this.#running++;
    return true;
  }

  /** Waits for a place. Returns how to stop waiting; `undefined`: too many wait already. */
  wait(waiter: Waiter, nowMs: number): (() => void) | undefined {
    if (this.#waiting.size >= this.#limit) return undefined;
    const waiting = { waiter, sinceMs: nowMs };
    this.#waiting.add(waiting);
    return () => void this.#waiting.delete(waiting);
  }

  /** A place is given back; the one who waited longest gets it. */
  leave(): void {
    this.#freed++;
    // Who is admitted may be refused at once and give the place back: a thousand of those would fill the stack.
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

  /** Sends away those who waited for too long; called now and then. */
  expire(nowMs: number): void {
    for (const waiting of [...this.#waiting]) {
      if (nowMs - waiting.sinceMs < WAIT_MS_MAX) return;
      this.#waiting.delete(waiting);
      waiting.waiter.expired();
    }
  }
}
