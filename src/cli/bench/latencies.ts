// How long the operations of a benchmark took. A histogram of three significant digits in microseconds: millions of
// values take no more memory than the first thousand.

import { build, type Histogram } from 'hdr-histogram-js';

const US_MAX = 3_600_000_000;

export interface LatencySummary {
  readonly min_ms: number;
  readonly p50_ms: number;
  readonly p90_ms: number;
  readonly p99_ms: number;
  readonly p999_ms: number;
  readonly max_ms: number;
  readonly sd_ms: number;
}

export class Latencies {
  readonly #histogram: Histogram = build({ highestTrackableValue: US_MAX, numberOfSignificantValueDigits: 3 });

  record(tookMs: number): void {
    this.#histogram.recordValue(Math.min(US_MAX, Math.max(1, Math.round(tookMs * 1_000))));
  }

  clear(): void {
    this.#histogram.reset();
  }

  summary(): LatencySummary {
    const histogram = this.#histogram;
    // A percentile is the upper end of its bucket, which may lie above the largest value.
    const at = (percentile: number) => Math.min(histogram.getValueAtPercentile(percentile), histogram.maxValue) / 1_000;
    const isEmpty = histogram.totalCount === 0;
    return {
      min_ms: isEmpty ? 0 : histogram.minNonZeroValue / 1_000,
      p50_ms: at(50),
      p90_ms: at(90),
      p99_ms: at(99),
      p999_ms: at(99.9),
      max_ms: histogram.maxValue / 1_000,
      sd_ms: isEmpty ? 0 : histogram.stdDeviation / 1_000,
    };
  }

  /** The text that plotting tools for HDR histograms read, in milliseconds. */
  distribution(): string {
    return this.#histogram.outputPercentileDistribution(5, 1_000);
  }
}
