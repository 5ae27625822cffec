// The time by which jobs wait: it advances independently of changes to the wall clock, so that no wait ends early or
// late because of them (Q4).
//
// While an engine runs, its monotonic clock counts. Between two runs only the wall clock is available: a change of it
// meanwhile, or since the last kept reading, counts as time.

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
