// The wait before an attempt is repeated. Pure: the random source is an argument.

/** W4: the first redial waits at most this long; the maximum doubles with every further one. */
export const REDIAL_MS_FIRST = 500;
/** W4: no redial waits longer. After a connection that lasted longer than this, the first wait applies again. */
export const REDIAL_MS_MAX = 15_000;

/**
 * The same for an engine that admits only so many connections per second (429). It admits more in a moment, and a
 * thousand workers that were refused are back within 20 s of its return (W5).
 */
const RATE_LIMITED_MS_MAX = 4_000;

/**
 * Full jitter: a random wait between zero and the maximum of this attempt, so that a thousand workers that lost the
 * same engine do not return at the same moment. `failures` counts from 1.
 */
export function redialDelayMs(failures: number, isRateLimited: boolean, random: () => number): number {
  return random() * ceilingMs(REDIAL_MS_FIRST, failures, isRateLimited ? RATE_LIMITED_MS_MAX : REDIAL_MS_MAX);
}

/** A wait between half of the maximum and the maximum: a caller that asked for a pause gets one. */
export function retryDelayMs(backoffMs: number, failures: number, random: () => number): number {
  return ceilingMs(backoffMs, failures, RETRY_MS_MAX) * (0.5 + random() / 2);
}

const RETRY_MS_MAX = 60_000;
/** 2^30 first waits exceed every maximum, and the exponent must not overflow while an engine is gone for days. */
const DOUBLINGS_MAX = 30;

function ceilingMs(firstMs: number, failures: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, DOUBLINGS_MAX));
}
