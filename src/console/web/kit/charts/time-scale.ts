// Time to pixels and back, the ruler's marks, and the merging of intervals that are too small to be seen alone. Shared
// by waterfall, minimap, flame graph and histogram.

export interface TimeScale {
  readonly fromMs: number;
  readonly toMs: number;
  readonly widthPx: number;
}

export function xOf(scale: TimeScale, ms: number): number {
  return ((ms - scale.fromMs) / Math.max(scale.toMs - scale.fromMs, Number.MIN_VALUE)) * scale.widthPx;
}

export function msAt(scale: TimeScale, x: number): number {
  return scale.fromMs + (x / Math.max(scale.widthPx, 1)) * (scale.toMs - scale.fromMs);
}

/** A span's bar: at least one pixel wide (TRC-9), cut at the edges; `null` when it lies outside. */
export function barOf(scale: TimeScale, startMs: number, endMs: number): { x: number; width: number } | null {
  if (endMs < scale.fromMs || startMs > scale.toMs) return null;
  const from = Math.max(0, xOf(scale, startMs));
  const to = Math.min(scale.widthPx, xOf(scale, endMs));
  const x = Math.min(from, Math.max(0, scale.widthPx - 1));
  return { x, width: Math.max(1, to - x) };
}

export interface Block {
  readonly x: number;
  readonly width: number;
  /** How many intervals this block stands for. */
  readonly count: number;
  /** The index of the first of them in the input. */
  readonly first: number;
}

/**
 * Intervals, sorted by start, as blocks: neighbours that would share pixels and are narrower than `mergeBelowPx` become
 * one block that counts them. Zooming in makes them wider and so separates them.
 */
export function mergeBlocks(
  scale: TimeScale,
  intervals: readonly { readonly startMs: number; readonly endMs: number }[],
  mergeBelowPx = 3,
): Block[] {
  const blocks: { x: number; width: number; count: number; first: number; isSmall: boolean }[] = [];
  intervals.forEach((interval, index) => {
    const bar = barOf(scale, interval.startMs, interval.endMs);
    if (bar === null) return;
    const last = blocks.at(-1);
    const isSmall = bar.width < mergeBelowPx;
    if (last?.isSmall && isSmall && bar.x < last.x + last.width + 1) {
      last.width = Math.max(last.width, bar.x + bar.width - last.x);
      last.count += 1;
    } else {
      blocks.push({ ...bar, count: 1, first: index, isSmall });
    }
  });
  return blocks.map(({ x, width, count, first }) => ({ x, width, count, first }));
}

/** Marks at round numbers, one per `minGapPx` at most. */
export function rulerMarks(scale: TimeScale, minGapPx = 90): number[] {
  const spanMs = scale.toMs - scale.fromMs;
  if (!(spanMs > 0) || scale.widthPx <= 0) return [];
  const stepMs = roundStep((spanMs * minGapPx) / scale.widthPx);
  const first = Math.ceil(scale.fromMs / stepMs);
  const last = Math.floor(scale.toMs / stepMs);
  const marks: number[] = [];
  // Counted in whole steps: sums would drift, and a step below the precision of a double would loop for ever.
  for (let index = 0; index <= scale.widthPx / minGapPx + 1 && first + index <= last; index += 1) {
    marks.push((first + index) * stepMs);
  }
  return marks;
}

function roundStep(wantedMs: number): number {
  const power = 10 ** Math.floor(Math.log10(wantedMs));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= wantedMs) ?? 10;
  return factor * power;
}

/** The marks of a ruler share a unit and a number of decimals, so that they can be compared at a glance. */
export function rulerText(ms: number, stepMs: number): string {
  const [unit, perMs] =
    stepMs >= 1_000 ? ['s', 0.001] : stepMs >= 1 ? ['ms', 1] : stepMs >= 0.001 ? ['µs', 1e3] : ['ns', 1e6];
  const step = stepMs * perMs;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return `${(ms * perMs).toFixed(Math.min(decimals, 3))} ${unit}`;
}

export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The narrowest zoom: 100 ns over the whole width, below the resolution of the clocks of spans. */
const ZOOM_MS_MIN = 0.0001;

/** Zooms by `factor` around `centreMs`, within `whole`. */
export function zoomed(range: TimeRange, whole: TimeRange, centreMs: number, factor: number): TimeRange {
  const length = Math.min(Math.max((range.toMs - range.fromMs) * factor, ZOOM_MS_MIN), whole.toMs - whole.fromMs);
  const share = (centreMs - range.fromMs) / Math.max(range.toMs - range.fromMs, Number.MIN_VALUE);
  return within({ fromMs: centreMs - share * length, toMs: centreMs + (1 - share) * length }, whole);
}

export function panned(range: TimeRange, whole: TimeRange, byMs: number): TimeRange {
  return within({ fromMs: range.fromMs + byMs, toMs: range.toMs + byMs }, whole);
}

function within(range: TimeRange, whole: TimeRange): TimeRange {
  const length = Math.min(range.toMs - range.fromMs, whole.toMs - whole.fromMs);
  const fromMs = Math.min(Math.max(range.fromMs, whole.fromMs), whole.toMs - length);
  return { fromMs, toMs: fromMs + length };
}
