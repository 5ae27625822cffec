// A clock that a test moves, for the workers and the engine of one fake. Turns of the event loop are real: work put off
// to the end of a turn runs by itself, and only timers wait for the test.

interface Timer {
  readonly task: () => void;
  /** Set for a timer that repeats. */
  readonly intervalMs: number | undefined;
  readonly order: number;
  dueMs: number;
}

export class VirtualClock {
  readonly #timers = new Set<Timer>();
  readonly #startMs: number;
  #elapsedMs = 0;
  #order = 0;
  #turnTasks = 0;

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  wallMs(): number {
    return this.nowMs();
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  every(intervalMs: number, task: () => void): () => void {
    return this.#add(task, intervalMs, intervalMs);
  }

  after(delayMs: number, task: () => void): () => void {
    return this.#add(task, delayMs, undefined);
  }

  afterTurn(task: () => void): void {
    this.#turnTasks++;
    setImmediate(() => {
      this.#turnTasks--;
      task();
    });
  }

  /** Resolves when no work is left for the end of a turn, and none was added after it. */
  async rest(isBusy: () => boolean): Promise<void> {
    for (let [turns, quiet] = [0, 0]; quiet < QUIET_TURNS && turns < TURNS_MAX; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      quiet = this.#turnTasks > 0 || isBusy() ? 0 : quiet + 1;
    }
  }

  /**
   * Each timer in the interval runs at its own time, and its consequences are done before the next one. Slightly more
   * time passes than was asked for, so that what an engine gathers for some milliseconds has left by then.
   */
  async advance(ms: number, isBusy: () => boolean): Promise<void> {
    const endMs = this.#elapsedMs + ms + GATHERING_MS;
    await this.rest(isBusy);
    for (let timer = this.#nextDue(endMs); timer !== undefined; timer = this.#nextDue(endMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, timer.dueMs);
      if (timer.intervalMs === undefined) this.#timers.delete(timer);
      else timer.dueMs = this.#elapsedMs + timer.intervalMs;
      timer.task();
      if (this.#turnTasks > 0) await this.rest(isBusy);
    }
    this.#elapsedMs = endMs;
    await this.rest(isBusy);
  }

  #add(task: () => void, delayMs: number, intervalMs: number | undefined): () => void {
    const timer: Timer = { task, intervalMs, order: this.#order++, dueMs: this.#elapsedMs + delayMs };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  #nextDue(endMs: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueMs > endMs) continue;
      const isEarlier = next === undefined || timer.dueMs < next.dueMs;
      if (isEarlier || (timer.dueMs === next?.dueMs && timer.order < next.order)) next = timer;
    }
    return next;
  }
}

const GATHERING_MS = 50;
/** More turns than any chain of promises and turns between two effects that a test can see. */
const QUIET_TURNS = 10;
/** The limit for a handler that waits for the real world, or for a time that the test has yet to reach. */
const TURNS_MAX = 500;
