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
  readonly #limit: number;
  #running = 0;
  /** In the order they came. */
  readonly #waiting = new Set<Waiting>();

  constructor(limit: number) {
    this.#limit = Math.max(1, limit);
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
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
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
