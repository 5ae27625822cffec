// When a failed job runs again, and when it has failed for good (Q4).

export interface RetryRules {
  /** Attempts after the first one. */
  readonly maxRetries: number;
  readonly backoffMs: number;
  /** Whether the wait doubles with every attempt. */
  readonly isExponential: boolean;
}

export const BACKOFF_MS_MAX = 3_600_000;
/** Hand-overs beyond the allowed attempts: a job that ends the engine each time is given up (Q6). */
const SPARE_DELIVERIES = 5;

/** The wait after failed attempt `attempt` (the first is 1); `undefined`: that was the last one. */
export function retryDelayMs(
  { maxRetries, backoffMs, isExponential }: RetryRules,
  attempt: number,
): number | undefined {
  if (attempt > maxRetries) return undefined;
  const wait = isExponential ? backoffMs * 2 ** (attempt - 1) : backoffMs;
  return Math.min(wait, BACKOFF_MS_MAX);
}

export function deliveriesMax(maxRetries: number): number {
  return maxRetries + 1 + SPARE_DELIVERIES;
}
