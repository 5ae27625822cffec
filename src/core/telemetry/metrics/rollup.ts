// Metrics of the last week in buckets of a minute, five minutes and an hour (modules 11.6). A bucket outlives its
// points in memory by far.
//
// Bounded: by the retention of each level, by the number of names, by the numbers in all histograms, and by dropping
// the source of percentiles once a bucket is over.

import { Aggregate, type AggregateRow } from './aggregate.ts';
import { isMetric } from './metric-names.ts';
import { add, type HistogramCounts } from './metric-store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface RollupLevel {
  readonly bucketMs: number;
  readonly retentionMs: number;
}

export const ROLLUP_LEVELS: readonly [RollupLevel, RollupLevel, RollupLevel] = [
  { bucketMs: MINUTE_MS, retentionMs: HOUR_MS },
  { bucketMs: 5 * MINUTE_MS, retentionMs: 6 * HOUR_MS },
  { bucketMs: HOUR_MS, retentionMs: 7 * 24 * HOUR_MS },
];

/** Distinct metrics; further ones are rolled up as `other`. */
export const ROLLUP_NAMES_MAX = 2_000;
const OTHER = 'other';
/** Bounds and counts, at 8 bytes: a histogram of 16 buckets in 500 metrics for the whole week, and as much again. */
const HISTOGRAM_NUMBERS_MAX = 8 * 1024 * 1024;
/** Clocks of workers may be wrong: a time further ahead is a mistake. */
const AHEAD_MS_MAX = 5 * MINUTE_MS;
/** Workers export once a minute: hardly any point is later than this. */
const FREEZE_AFTER_MS = 2 * MINUTE_MS;

export interface HistogramRow {
  readonly name: string;
  readonly bucket_start_ns: number;
  readonly bucket_end_ns: number;
  readonly total_count: number;
  readonly total_sum: number;
  readonly min?: number;
  readonly max?: number;
  readonly bucket_counts: readonly number[];
  readonly explicit_bounds: readonly number[];
}

export interface RollupQuery {
  readonly level: 0 | 1 | 2;
  /** Unix milliseconds: buckets that overlap the range. */
  readonly startTime: number;
  readonly endTime: number;
  readonly name: string | undefined;
}

export interface RollupList {
  readonly rollups: readonly AggregateRow[];
  readonly histogram_rollups: readonly HistogramRow[];
}

interface NamedBuckets {
  readonly numbers: Map<number, Aggregate>;
  readonly histograms: Map<number, HistogramCounts>;
}

export type RollupDropReason = 'time' | 'names' | 'bounds' | 'limit';

export class RollupStore {
  readonly #levels = ROLLUP_LEVELS.map(() => new Map<string, NamedBuckets>());
  readonly #onDrop: (reason: RollupDropReason) => void;
  readonly #histogramNumbersMax: number;
  /** Of all histograms together. */
  #histogramNumbers = 0;

  constructor(onDrop: (reason: RollupDropReason) => void, histogramNumbersMax = HISTOGRAM_NUMBERS_MAX) {
    this.#onDrop = onDrop;
    this.#histogramNumbersMax = histogramNumbersMax;
  }

  get bucketCount(): number {
    let count = 0;
    for (const names of this.#levels) {
      for (const { numbers, histograms } of names.values()) count += numbers.size + histograms.size;
    }
    return count;
  }

  addNumber(name: string, timeMs: number, value: number, nowMs: number): void {
    this.#eachLevel(name, timeMs, nowMs, ({ numbers }, startMs) => {
      const known = numbers.get(startMs) ?? new Aggregate();
      numbers.set(startMs, known);
      known.add(value);
    });
  }

  addHistogram(name: string, timeMs: number, counts: HistogramCounts, nowMs: number): void {
    this.#eachLevel(name, timeMs, nowMs, ({ histograms }, startMs) => {
      const known = histograms.get(startMs);
      const sum = known === undefined ? counts : add(known, counts);
      // Bounds change from now on: the newer ones are the ones that will be queried.
      if (sum === undefined) this.#onDrop('bounds');
      const kept = sum ?? counts;
      const numbers = this.#histogramNumbers + numbersOf(kept) - numbersOf(known);
      if (numbers > this.#histogramNumbersMax && numbers > this.#histogramNumbers) return this.#onDrop('limit');
      this.#histogramNumbers = numbers;
      histograms.set(startMs, kept);
    });
  }

  /** Drops old buckets, and the source of percentiles where a bucket is over. */
  expire(nowMs: number): void {
    for (const [level, { bucketMs, retentionMs }] of ROLLUP_LEVELS.entries()) {
      const names = this.#levels[level];
      for (const [name, { numbers, histograms }] of names ?? []) {
        for (const [startMs, aggregate] of numbers) {
          if (startMs + bucketMs < nowMs - retentionMs) numbers.delete(startMs);
          else if (startMs + bucketMs < nowMs - FREEZE_AFTER_MS) aggregate.freeze();
        }
        for (const [startMs, counts] of histograms) {
          if (startMs + bucketMs >= nowMs - retentionMs) continue;
          histograms.delete(startMs);
          this.#histogramNumbers -= numbersOf(counts);
        }
        if (numbers.size + histograms.size === 0) names?.delete(name);
      }
    }
  }

  /** Oldest buckets first. */
  list({ level, startTime, endTime, name }: RollupQuery): RollupList {
    const { bucketMs } = ROLLUP_LEVELS[level];
    const isAsked = (startMs: number): boolean => startMs <= endTime && startMs + bucketMs > startTime;
    const isWanted = name === undefined ? () => true : isMetric(name);
    const rollups: AggregateRow[] = [];
    const histograms: HistogramRow[] = [];
    for (const [known, buckets] of this.#levels[level] ?? []) {
      if (!isWanted(known)) continue;
      for (const [startMs, aggregate] of buckets.numbers) {
        if (isAsked(startMs)) rollups.push(aggregate.row(known, startMs, startMs + bucketMs));
      }
      for (const [startMs, counts] of buckets.histograms) {
        if (isAsked(startMs)) histograms.push(histogramRow(known, startMs, startMs + bucketMs, counts));
      }
    }
    return { rollups: rollups.sort(byTimeAndName), histogram_rollups: histograms.sort(byTimeAndName) };
  }

  #eachLevel(
    given: string,
    timeMs: number,
    nowMs: number,
    enter: (buckets: NamedBuckets, startMs: number) => void,
  ): void {
    if (!(timeMs <= nowMs + AHEAD_MS_MAX)) return this.#onDrop('time');
    const name = this.#nameFor(given);
    let isKept = false;
    for (const [level, { bucketMs, retentionMs }] of ROLLUP_LEVELS.entries()) {
      const startMs = Math.floor(timeMs / bucketMs) * bucketMs;
      const names = this.#levels[level];
      if (names === undefined || startMs + bucketMs < nowMs - retentionMs) continue;
      isKept = true;
      const buckets = names.get(name) ?? { numbers: new Map(), histograms: new Map() };
      names.set(name, buckets);
      enter(buckets, startMs);
    }
    if (!isKept) this.#onDrop('time');
  }

  #nameFor(name: string): string {
    // The level with the longest retention has every name of the others.
    const names = this.#levels[2];
    if (names === undefined || names.has(name) || names.size < ROLLUP_NAMES_MAX) return name;
    this.#onDrop('names');
    return OTHER;
  }
}

function numbersOf(counts: HistogramCounts | undefined): number {
  return counts === undefined ? 0 : counts.bucketCounts.length + counts.explicitBounds.length;
}

function histogramRow(name: string, startMs: number, endMs: number, counts: HistogramCounts): HistogramRow {
  return {
    name,
    bucket_start_ns: startMs * 1e6,
    bucket_end_ns: endMs * 1e6,
    total_count: counts.count,
    total_sum: counts.sum,
    ...(counts.min !== undefined && { min: counts.min }),
    ...(counts.max !== undefined && { max: counts.max }),
    bucket_counts: counts.bucketCounts,
    explicit_bounds: counts.explicitBounds,
  };
}

function byTimeAndName(a: AggregateRow | HistogramRow, b: AggregateRow | HistogramRow): number {
  return a.bucket_start_ns - b.bucket_start_ns || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
