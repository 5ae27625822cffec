// The points in time that all charts of a range share.

export interface ChartGrid {
  /** Where the first step begins. */
  readonly startMs: number;
  /** What is drawn. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
  /** There is no data before it. */
  readonly sinceMs: number;
  /** The end of each step. */
  readonly times: readonly number[];
}

export function timesOf(fromMs: number, toMs: number, stepMs: number): number[] {
  return Array.from({ length: Math.round((toMs - fromMs) / stepMs) }, (_, at) => fromMs + (at + 1) * stepMs);
}

/**
 * The last value of each step. Items are in the order of their times. A single step without one has the value before
 * it, because snapshots are about one step apart; more are a hole.
 */
export function sampled<T extends { readonly at: number }>(
  { times, startMs, stepMs }: Pick<ChartGrid, 'times' | 'startMs' | 'stepMs'>,
  items: readonly T[],
  read: (item: T) => number | null,
): (number | null)[] {
  const values: (number | null)[] = times.map(() => null);
  for (const item of items) {
    const at = Math.ceil((item.at - startMs) / stepMs) - 1;
    if (at >= 0 && at < values.length) values[at] = read(item);
  }
  return values.map((value, at) => value ?? values[at - 1] ?? null);
}
