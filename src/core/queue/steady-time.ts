// The time by which jobs wait: it passes whatever the clock on the wall is set to, so that no wait ends early or late
// because of it (Q4).
//
// While an engine runs its monotonic clock counts. What passed between two runs only the wall clock can tell: what it
// was set by meanwhile, or since the last reading was kept, counts as time.

/** The clocks of an engine at one moment. */
export interface ClockReading {
  /** Names the run of the engine: readings of another one have nothing to do with its `monotonicMs`. */
  run: string;
  /** Whole milliseconds, as the others. */
  monotonicMs: number;
  wallMs: number;
}

/** The last reading, kept with what waits. */
export interface SteadyReading extends ClockReading {
  steadyMs: number;
}

/** Begins as the wall clock, and is never set back. */
export function steadyTime(last: SteadyReading | undefined, now: ClockReading): number {
  if (last === undefined) return now.wallMs;
  const passedMs = last.run === now.run ? now.monotonicMs - last.monotonicMs : now.wallMs - last.wallMs;
  return last.steadyMs + Math.max(0, passedMs);
}
