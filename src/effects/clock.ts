// The engine's clock, and work with a time limit. Tests pass in their own clock and advance it by hand.

export interface Clock {
  /** Wall-clock time, Unix milliseconds: for what people read and for schedules, never for waiting. */
  nowMs(): number;
  /** Monotonic milliseconds from an arbitrary zero: for every deadline and duration. */
  monotonicMs(): number;
  /** Runs `task` every `intervalMs` until the returned function is called. Keeps the process alive only if asked to. */
  every(intervalMs: number, task: () => void, options?: { readonly keepsProcessAlive: boolean }): () => void;
  /** Runs `task` once; the returned function cancels it. Never keeps the process alive. */
  after(delayMs: number, task: () => void): () => void;
  /** Runs `task` when all input that has arrived so far has been handled. */
  afterTurn(task: () => void): void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  every(intervalMs, task, options) {
    const timer = setInterval(task, intervalMs);
    if (options?.keepsProcessAlive !== true) timer.unref();
    return () => clearInterval(timer);
  },
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
  afterTurn(task) {
    setImmediate(task);
  },
};

/** What a thread adds to `monotonicMs`, which begins with the thread, for a time that all threads share. */
export function sharedZeroMs(): number {
  return Number(process.hrtime.bigint()) / 1e6 - performance.now();
}

/**
 * Work with a time limit, because an engine that stops cannot wait for work that never ends (G1). Resolves when the
 * work has ended, or when its time is over; the work is then abandoned.
 */
export async function atMost(clock: Pick<Clock, 'after'>, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
