// Long pauses in which no span runs, such as the wait before a retry, take little of the time axis (TRC-22): otherwise
// the work before and after them would be a few pixels wide. A mark shows how long each is.

import { rulerMarks, type TimeScale } from '../../../kit/charts/time-scale.ts';
import { FLAG, type TraceColumns } from './trace-columns.ts';

/** A pause as it was, and where the axis shows it. */
export interface Gap {
  readonly fromMs: number;
  readonly toMs: number;
  readonly shownFromMs: number;
  readonly shownToMs: number;
}

/** A pause is shortened if it is longer than this share of the time in which something ran. */
const LONG_SHARE = 0.5;
/** What it takes then, as a share of the same. */
const SHOWN_SHARE = 0.06;
const GAP_MS_MIN = 1;

export function findGaps(columns: TraceColumns): readonly Gap[] {
  const pauses = pausesOf(columns);
  const paused = pauses.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  const busyMs = columns.durationMs - paused;
  const gaps: Gap[] = [];
  let removed = 0;
  for (const { fromMs, toMs } of pauses) {
    const length = toMs - fromMs;
    if (length < GAP_MS_MIN || length <= busyMs * LONG_SHARE) continue;
    const shown = Math.min(length, Math.max(busyMs * SHOWN_SHARE, GAP_MS_MIN / 10));
    gaps.push({ fromMs, toMs, shownFromMs: fromMs - removed, shownToMs: fromMs - removed + shown });
    removed += length - shown;
  }
  return gaps;
}

/** Where the axis shows a moment of the trace. */
export function shownMs(gaps: readonly Gap[], ms: number): number {
  const gap = gaps.findLast(({ fromMs }) => fromMs <= ms);
  if (gap === undefined) return ms;
  if (ms >= gap.toMs) return gap.shownToMs + ms - gap.toMs;
  return gap.shownFromMs + ((ms - gap.fromMs) / (gap.toMs - gap.fromMs)) * (gap.shownToMs - gap.shownFromMs);
}

/** The moment that the axis shows there. */
export function realMs(gaps: readonly Gap[], shown: number): number {
  const gap = gaps.findLast(({ shownFromMs }) => shownFromMs <= shown);
  if (gap === undefined) return shown;
  if (shown >= gap.shownToMs) return gap.toMs + shown - gap.shownToMs;
  return gap.fromMs + ((shown - gap.shownFromMs) / (gap.shownToMs - gap.shownFromMs)) * (gap.toMs - gap.fromMs);
}

/** The columns on such an axis. Durations that lie outside of all pauses stay as they are. */
export function withoutGaps(columns: TraceColumns, gaps: readonly Gap[]): TraceColumns {
  if (gaps.length === 0) return columns;
  const move = (times: Float64Array): Float64Array => times.map((ms) => shownMs(gaps, ms));
  return {
    ...columns,
    startMs: move(columns.startMs),
    endMs: move(columns.endMs),
    eventMs: move(columns.eventMs),
    innerFromMs: move(columns.innerFromMs),
    innerToMs: move(columns.innerToMs),
    durationMs: shownMs(gaps, columns.durationMs),
  };
}

function pausesOf({ count, flags, startMs, endMs }: TraceColumns): { fromMs: number; toMs: number }[] {
  const rows = Array.from({ length: count }, (_, row) => row)
    .filter((row) => ((flags[row] ?? 0) & FLAG.unknownParent) === 0)
    .sort((a, b) => (startMs[a] ?? 0) - (startMs[b] ?? 0));
  const pauses: { fromMs: number; toMs: number }[] = [];
  let busyTo = 0;
  for (const row of rows) {
    const start = startMs[row] ?? 0;
    if (start > busyTo) pauses.push({ fromMs: busyTo, toMs: start });
    busyTo = Math.max(busyTo, endMs[row] ?? 0);
  }
  return pauses;
}

export interface AxisMark {
  /** On the shown axis. */
  readonly atMs: number;
  /** What the mark says. */
  readonly realMs: number;
}

/** Marks at round moments of the trace, between the pauses. */
export function axisMarks(scale: TimeScale, gaps: readonly Gap[]): readonly AxisMark[] {
  const marks = rulerMarks(scale);
  if (gaps.length === 0) return marks.map((ms) => ({ atMs: ms, realMs: ms }));
  const stepMs = (marks[1] ?? 0) - (marks[0] ?? 0);
  if (!(stepMs > 0)) return [];
  const ends = [...gaps.map(({ fromMs }) => fromMs), realMs(gaps, scale.toMs)];
  const starts = [realMs(gaps, scale.fromMs), ...gaps.map(({ toMs }) => toMs)];
  return starts.flatMap((start, index) => {
    const [from, to] = [
      Math.max(start, realMs(gaps, scale.fromMs)),
      Math.min(ends[index] ?? 0, realMs(gaps, scale.toMs)),
    ];
    const first = Math.ceil(from / stepMs);
    const count = Math.min(marks.length, Math.max(0, Math.floor(to / stepMs) - first + 1));
    return Array.from({ length: count }, (_, at) => {
      const ms = (first + at) * stepMs;
      return { atMs: shownMs(gaps, ms), realMs: ms };
    });
  });
}
