// Statistics of the values in a time bucket. Few values are kept as they are and give exact percentiles; many go into a
// histogram of three significant digits.

import { build, type Histogram } from 'hdr-histogram-js';
import { percentile } from '../spans/trace-groups.ts';

export interface Percentiles {
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}

export interface AggregateRow {
  readonly name: string;
  readonly bucket_start_ns: number;
  readonly bucket_end_ns: number;
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly avg: number;
  readonly percentiles?: Percentiles;
}

const EXACT_VALUES_MAX = 256;
/** The histogram counts whole numbers: the largest value at its start is scaled to about this one. */
const SCALED_MAX = 1e12;
const RECORDABLE_MAX = Number.MAX_SAFE_INTEGER;

export class Aggregate {
  count = 0;
  sum = 0;
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  /** Undefined after too many values, or once the bucket is frozen. */
  #values: number[] | undefined = [];
  #histogram: Histogram | undefined;
  #scale = 1;
  #frozen: Percentiles | undefined;

  add(value: number): void {
    this.count++;
    this.sum += value;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    if (this.#values !== undefined) {
      this.#values.push(value);
      if (this.#values.length > EXACT_VALUES_MAX) this.#toHistogram(this.#values);
    } else this.#record(value);
  }

  /**
   * The bucket is over: its statistics stay, its values are dropped. Late values still count, except in percentiles.
   */
  freeze(): void {
    if (this.#values === undefined && this.#histogram === undefined) return;
    this.#frozen = this.percentiles();
    this.#values = undefined;
    this.#histogram = undefined;
  }

  /** Without percentiles for many negative values: the histogram does not support them. */
  percentiles(): Percentiles | undefined {
    if (this.#values !== undefined) {
      const sorted = Float64Array.from(this.#values).sort();
      return percentilesBy((share) => percentile(sorted, share));
    }
    const histogram = this.#histogram;
    if (histogram === undefined) return this.#frozen;
    const scale = this.#scale;
    return percentilesBy((share) => clamp(histogram.getValueAtPercentile(share * 100) / scale, this.min, this.max));
  }

  row(name: string, startMs: number, endMs: number): AggregateRow {
    const percentiles = this.percentiles();
    return {
      name,
      bucket_start_ns: startMs * 1e6,
      bucket_end_ns: endMs * 1e6,
      count: this.count,
      sum: this.sum,
      min: this.min,
      max: this.max,
      avg: this.sum / this.count,
      ...(percentiles !== undefined && { percentiles }),
    };
  }

  #toHistogram(values: readonly number[]): void {
    this.#values = undefined;
    if (this.min < 0) return;
    this.#scale = this.max > 0 ? SCALED_MAX / this.max : 1;
    this.#histogram = build({
      lowestDiscernibleValue: 1,
      highestTrackableValue: RECORDABLE_MAX,
      numberOfSignificantValueDigits: 3,
      bitBucketSize: 'packed',
      useWebAssembly: false,
    });
    for (const value of values) this.#record(value);
  }

  #record(value: number): void {
    if (value < 0) this.#histogram = undefined;
    this.#histogram?.recordValue(Math.min(RECORDABLE_MAX, Math.round(value * this.#scale)));
  }
}

function percentilesBy(at: (share: number) => number): Percentiles {
  return { p50: at(0.5), p75: at(0.75), p90: at(0.9), p95: at(0.95), p99: at(0.99) };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
