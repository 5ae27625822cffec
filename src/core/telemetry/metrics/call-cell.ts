// Counts of calls in one stretch of time, and what is shown of them.

import { type CallCounts, DURATION_BOUNDS_MS } from '../records/intake.ts';
import { percentileOfBuckets } from './durations.ts';

/** What `add` counts: `CallCounts` of functions, or calls without durations. */
export type CallsOf = Pick<CallCounts, 'ok' | 'error' | 'deferred'> &
  Partial<Pick<CallCounts, 'okDurations' | 'errorDurations'>>;

export interface CallPoint {
  readonly calls: number;
  readonly errors: number;
  /** Milliseconds spent in these calls. */
  readonly total_ms: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
  /** Only in answers to other engines: percentiles cannot be merged. */
  readonly histogram?: DurationHistogram;
}

export interface DurationHistogram {
  readonly max_ms: number;
  /** Calls up to each of `DURATION_BOUNDS_MS`, and above the last. */
  readonly counts: readonly number[];
}

export interface CallSums extends CallPoint {
  readonly deferred: number;
  readonly max_ms: number;
}

export class CallCell {
  #calls = 0;
  #errors = 0;
  #deferred = 0;
  #totalMs = 0;
  #maxMs = 0;
  /** Absent until a duration is counted: connections have none. */
  #counts: Uint32Array | undefined;

  add({ ok, error, deferred, okDurations, errorDurations }: CallsOf): void {
    this.#calls += ok + error;
    this.#errors += error;
    this.#deferred += deferred;
    for (const durations of [okDurations, errorDurations]) {
      if (durations === undefined || durations.count === 0) continue;
      this.#totalMs += durations.sum;
      this.#addDurations(durations.max, durations.buckets);
    }
  }

  addCell(other: CallCell): void {
    this.#calls += other.#calls;
    this.#errors += other.#errors;
    this.#deferred += other.#deferred;
    this.#totalMs += other.#totalMs;
    if (other.#counts !== undefined) this.#addDurations(other.#maxMs, other.#counts);
  }

  /** What another engine shows of its calls. */
  addPoint({ calls, errors, total_ms: totalMs, histogram }: CallPoint, deferred = 0): void {
    this.#calls += calls;
    this.#errors += errors;
    this.#deferred += deferred;
    this.#totalMs += totalMs;
    if (histogram !== undefined) this.#addDurations(histogram.max_ms, histogram.counts);
  }

  point(withHistogram = false): CallPoint {
    const counts = [...(this.#counts ?? [])];
    const at = (share: number) => percentileOfBuckets(counts, this.#maxMs, share);
    return {
      calls: this.#calls,
      errors: this.#errors,
      total_ms: this.#totalMs,
      p50_ms: at(0.5),
      p95_ms: at(0.95),
      p99_ms: at(0.99),
      ...(withHistogram && counts.length > 0 && { histogram: { max_ms: this.#maxMs, counts } }),
    };
  }

  sums(withHistogram = false): CallSums {
    return { ...this.point(withHistogram), deferred: this.#deferred, max_ms: this.#maxMs };
  }

  #addDurations(maxMs: number, counts: ArrayLike<number>): void {
    this.#maxMs = Math.max(this.#maxMs, maxMs);
    this.#counts ??= new Uint32Array(DURATION_BOUNDS_MS.length + 1);
    for (let at = 0; at < this.#counts.length; at++) this.#counts[at] = (this.#counts[at] ?? 0) + (counts[at] ?? 0);
  }
}

export function pointAt(points: CallCell[], at: number): CallCell {
  const known = points[at];
  if (known !== undefined) return known;
  const cell = new CallCell();
  points[at] = cell;
  return cell;
}

interface Grid {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly step_ms: number;
}

/** One for each step, also where nothing was counted. */
export function pointsOf(cells: readonly CallCell[], grid: Grid, withHistograms = false): CallPoint[] {
  const length = Math.round((grid.end_ms - grid.start_ms) / grid.step_ms);
  return Array.from({ length }, (_, at) => (cells[at] ?? NOTHING).point(withHistograms));
}

const NOTHING = new CallCell();
