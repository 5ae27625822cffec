// Wall-clock time with the resolution of the monotonic clock. `Date.now()` is cut to milliseconds: the span of a call
// would begin before the call that made it, and last 0 ms.

/** Returns Unix milliseconds with fractions. `epochMs`: roughly the wall-clock time when the monotonic clock was 0. */
export function steadyTime(wallMs: () => number, monotonicMs: () => number, epochMs = wallMs() - monotonicMs()) {
  let epoch = epochMs;
  return (): number => {
    const [monotonic, wall] = [monotonicMs(), wallMs()];
    // The true time lies within the millisecond that the wall clock shows. A clock that was set is followed at once.
    const estimate = Math.max(wall, Math.min(epoch + monotonic, wall + UNDER_A_MILLISECOND));
    epoch = estimate - monotonic;
    return estimate;
  };
}

const UNDER_A_MILLISECOND = 0.999;
