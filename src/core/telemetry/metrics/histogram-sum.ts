// Sums and differences of workers' histograms. OTLP's usual points count from the start of the worker: two of them must
// not be added, but their difference may.

import type { HistogramPoint } from '../records/records.ts';

export interface HistogramCounts {
  readonly count: number;
  readonly sum: number;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly bucketCounts: readonly number[];
  readonly explicitBounds: readonly number[];
}

export function countsOf(point: HistogramPoint): HistogramCounts {
  const { count, sum, min, max, bucket_counts: bucketCounts, explicit_bounds: explicitBounds } = point;
  return { count, sum, min, max, bucketCounts, explicitBounds };
}

/** The counts since `before`: all of them without it, or where the bounds differ, or where the count restarted. */
export function difference(now: HistogramCounts, before: HistogramCounts | undefined): HistogramCounts {
  if (before === undefined || now.count < before.count || !haveSameBounds(now, before)) return now;
  return {
    count: now.count - before.count,
    sum: now.sum - before.sum,
    // The extremes of a worker's whole life say nothing of the time in between.
    min: undefined,
    max: undefined,
    bucketCounts: now.bucketCounts.map((count, index) => Math.max(0, count - (before.bucketCounts[index] ?? 0))),
    explicitBounds: now.explicitBounds,
  };
}

/** Undefined: their buckets differ and cannot be added. */
export function add(one: HistogramCounts, other: HistogramCounts): HistogramCounts | undefined {
  if (!haveSameBounds(one, other)) return undefined;
  return {
    count: one.count + other.count,
    sum: one.sum + other.sum,
    min: extreme(Math.min, one.min, other.min),
    max: extreme(Math.max, one.max, other.max),
    bucketCounts: one.bucketCounts.map((count, index) => count + (other.bucketCounts[index] ?? 0)),
    explicitBounds: one.explicitBounds,
  };
}

function haveSameBounds({ explicitBounds: a }: HistogramCounts, { explicitBounds: b }: HistogramCounts): boolean {
  return a.length === b.length && a.every((bound, index) => bound === b[index]);
}

function extreme(
  choose: (a: number, b: number) => number,
  a: number | undefined,
  b: number | undefined,
): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : choose(a, b);
}
