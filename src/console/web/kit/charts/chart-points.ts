// The arithmetic of a small chart over time: where points lie, which one is nearest, which range a drag selects.

export interface ChartWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly width: number;
  readonly height: number;
}

export interface ChartSeries {
  readonly name: string;
  /** One for each moment; null is a hole. */
  readonly values: readonly (number | null)[];
}

/** Room for the line's own width at top and bottom. */
const EDGE = 2;

export function xOf({ fromMs, toMs, width }: ChartWindow, ms: number): number {
  return ((ms - fromMs) / (toMs - fromMs)) * width;
}

export function msAt({ fromMs, toMs, width }: ChartWindow, x: number): number {
  return fromMs + (Math.min(Math.max(x, 0), width) / width) * (toMs - fromMs);
}

/** The largest value, never zero, so that a flat line lies at the bottom. */
export function topOf(series: readonly ChartSeries[]): number {
  let top = 0;
  for (const { values } of series) for (const value of values) top = Math.max(top, value ?? 0);
  return top === 0 ? 1 : top;
}

/**
 * A path. Two moments further apart than `gapMs` are not joined, because nothing is known between them. A single moment
 * is a line without length, which round ends draw as a dot.
 */
export function linePath(
  window: ChartWindow,
  times: readonly number[],
  values: readonly (number | null)[],
  top: number,
  gapMs: number,
): string {
  let path = '';
  let before: number | undefined;
  values.forEach((value, at) => {
    const ms = times[at];
    if (value === null || ms === undefined) {
      before = undefined;
      return;
    }
    const x = xOf(window, ms).toFixed(1);
    const y = (window.height - EDGE - (value / top) * (window.height - 2 * EDGE)).toFixed(1);
    const isJoined = before !== undefined && ms - before <= gapMs;
    path += isJoined ? `L${x} ${y}` : `M${x} ${y}h0`;
    before = ms;
  });
  return path;
}

/** The index of the moment nearest to `ms`. Times are ascending. */
export function nearestAt(times: readonly number[], ms: number): number | undefined {
  if (times.length === 0) return undefined;
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < ms) low = middle + 1;
    else high = middle;
  }
  const before = times[low - 1];
  return before !== undefined && ms - before < (times[low] ?? 0) - ms ? low - 1 : low;
}
