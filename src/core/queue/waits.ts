// How long jobs wait (Q4): when a failed job runs again, and the time that waits use.
//
// That time advances independently of changes to the wall clock, so that no wait ends early or late because of them.
// While an engine runs, its monotonic clock counts. Between two runs only the wall clock is available: a change of it
// meanwhile, or since the last kept reading, counts as time.

export interface RetryRules {
  /** Attempts after the first one. */
  readonly maxRetries: number;
  readonly backoffMs: number;
  /** Whether the wait doubles with every attempt. */
  readonly isExponential: boolean;
  /** The longest wait; `undefined`: an hour. */
  readonly waitMsMax?: number | undefined;
}

export const BACKOFF_MS_MAX = 3_600_000;
/** Hand-overs beyond the allowed attempts: a job that ends the engine each time is given up (Q6). */
const SPARE_DELIVERIES = 5;

/** The wait after failed attempt `attempt` (the first is 1); `undefined`: that was the last one. */
export function retryDelayMs(
  { maxRetries, backoffMs, isExponential, waitMsMax = BACKOFF_MS_MAX }: RetryRules,
  attempt: number,
): number | undefined {
  if (attempt > maxRetries) return undefined;
  const wait = isExponential ? backoffMs * 2 ** (attempt - 1) : backoffMs;
  return Math.min(wait, waitMsMax);
}

/** All waits of a job that fails every time. */
export function totalWaitMs(retry: RetryRules): number {
  let totalMs = 0;
  for (let attempt = 1; attempt <= retry.maxRetries; attempt++) totalMs += retryDelayMs(retry, attempt) ?? 0;
  return totalMs;
}

/** The rules with the highest limit of one wait with which all waits fit; unchanged if they fit anyway. */
export function fitWaits(retry: RetryRules, totalMsMax: number): RetryRules {
  if (totalWaitMs(retry) <= totalMsMax) return retry;
  let [fits, exceeds] = [0, BACKOFF_MS_MAX];
  while (exceeds - fits > 1) {
    const middle = Math.floor((fits + exceeds) / 2);
    if (totalWaitMs({ ...retry, waitMsMax: middle }) <= totalMsMax) fits = middle;
    else exceeds = middle;
  }
  return { ...retry, waitMsMax: fits };
}

/**
 * The limit of all waits of a job in a fifo queue on RabbitMQ. The job is held all the time, and RabbitMQ gives a job
 * that is held for `consumerTimeoutMs` to another consumer.
 */
export function heldWaitsMsMax(consumerTimeoutMs: number): number {
  return Math.floor((consumerTimeoutMs * 2) / 3);
}

export function deliveriesMax(maxRetries: number): number {
  return maxRetries + 1 + SPARE_DELIVERIES;
}

/** The clocks of an engine at one moment. */
export interface ClockReading {
  /** Identifies the run of the engine: readings of another run are unrelated to its `monotonicMs`. */
  run: string;
  /** Whole milliseconds, as the others. */
  monotonicMs: number;
  wallMs: number;
}

/** The last reading, kept with the waiting jobs. */
export interface SteadyReading extends ClockReading {
  steadyMs: number;
}

/** Starts as the wall clock, and is never set back. */
export function steadyTime(last: SteadyReading | undefined, now: ClockReading): number {
  if (last === undefined) return now.wallMs;
  const passedMs = last.run === now.run ? now.monotonicMs - last.monotonicMs : now.wallMs - last.wallMs;
  return last.steadyMs + Math.max(0, passedMs);
}
