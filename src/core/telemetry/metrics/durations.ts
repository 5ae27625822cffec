// Durations counted in buckets: what remains of many calls, of one engine or of several.

import { DURATION_BOUNDS_MS, type DurationCounts } from '../records/intake.ts';

export interface DurationSummary {
  readonly avg_duration_ms: number;
  readonly p50_duration_ms: number;
  readonly p95_duration_ms: number;
  readonly p99_duration_ms: number;
  readonly min_duration_ms: number;
  readonly max_duration_ms: number;
}

export const NO_DURATIONS: DurationCounts = {
  ...{ count: 0, sum: 0, min: 0, max: 0 },
  buckets: DURATION_BOUNDS_MS.map(() => 0).concat(0),
};

export function sumOfDurations(one: DurationCounts, other: DurationCounts): DurationCounts {
  if (other.count === 0) return one;
  return {
    count: one.count + other.count,
    sum: one.sum + other.sum,
    min: one.count === 0 ? other.min : Math.min(one.min, other.min),
    max: Math.max(one.max, other.max),
    buckets: one.buckets.map((count, index) => count + (other.buckets[index] ?? 0)),
  };
}

export class Durations {
  count = 0;
  sum = 0;
  min = 0;
  max = 0;
  buckets: number[] = NO_DURATIONS.buckets.slice();

  add(durationMs: number): void {
    this.min = this.count === 0 ? durationMs : Math.min(this.min, durationMs);
    this.max = Math.max(this.max, durationMs);
    this.count++;
    this.sum += durationMs;
    let bucket = 0;
    while (bucket < DURATION_BOUNDS_MS.length && durationMs > (DURATION_BOUNDS_MS[bucket] ?? 0)) bucket++;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
  }

  take(): DurationCounts {
    const { count, sum, min, max, buckets } = this;
    if (count > 0) this.buckets = NO_DURATIONS.buckets.slice();
    this.count = this.sum = this.min = this.max = 0;
    return { count, sum, min, max, buckets };
  }
}

export function countDurations(durationsMs: readonly number[]): DurationCounts {
  const durations = new Durations();
  for (const durationMs of durationsMs) durations.add(durationMs);
  return durations.take();
}

/** All zero where nothing was counted. */
export function summaryOf({ count, sum, min, max, buckets }: DurationCounts): DurationSummary {
  const at = (share: number): number => Math.max(min, percentileOfBuckets(buckets, max, share) ?? max);
  return {
    avg_duration_ms: count === 0 ? 0 : sum / count,
    p50_duration_ms: at(0.5),
    p95_duration_ms: at(0.95),
    p99_duration_ms: at(0.99),
    min_duration_ms: min,
    max_duration_ms: max,
  };
}

/** Within its bucket a value is assumed to lie in proportion to its rank; never above the largest value seen. */
export function percentileOfBuckets(buckets: readonly number[], maxMs: number, share: number): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let before = 0;
  for (const [index, count] of buckets.entries()) {
    if (count > 0 && before + count >= rank) {
      const low = index === 0 ? 0 : (DURATION_BOUNDS_MS[index - 1] ?? 0);
      const high = Math.min(DURATION_BOUNDS_MS[index] ?? maxMs, maxMs);
      return low + Math.max(0, high - low) * ((rank - before) / count);
    }
    before += count;
  }
  return maxMs;
}
