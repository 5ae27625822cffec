// The engine's own counts since its start, as metrics with the names of modules 11.6: for export, for Prometheus, and
// by function for `svc top`. Fed with the batches of the router's thread (`intake.ts`).

import { type CallCounts, DURATION_BOUNDS_MS, type DurationCounts, type WorkerCounts } from '../records/intake.ts';
import type { Attributes, HistogramPoint, MetricRecord, MetricType, NumberPoint } from '../records/records.ts';
import { CODES_MAX, OTHER_CODE } from './call-stats.ts';
import { type EmittedPrefix, metricName } from './metric-names.ts';

/** Calls of one function since the start. */
export interface FunctionTotals {
  readonly function_id: string;
  readonly ok: number;
  readonly error: number;
  readonly deferred: number;
  /** Milliseconds, of the calls that ended; null where none did. */
  readonly p50_duration_ms: number | null;
  readonly p95_duration_ms: number | null;
  readonly p99_duration_ms: number | null;
  readonly errors: Readonly<Record<string, number>>;
}

/** Figures that are only known when they are requested. */
export interface EngineGauges {
  readonly workersActive: number;
}

const SCOPE = 'svc';
const BOUNDS_SECONDS = DURATION_BOUNDS_MS.map((bound) => bound / 1_000);

export class EngineMetrics {
  readonly #functions = new Map<string, FunctionSums>();
  #spawns = 0;
  #deaths = 0;

  add(calls: readonly CallCounts[], workers: WorkerCounts): void {
    for (const counts of calls) this.#sums(counts.functionId).add(counts);
    this.#spawns += workers.spawns;
    this.#deaths += workers.deaths;
  }

  functionTotals(): FunctionTotals[] {
    return [...this.#functions.values()].map((sums) => sums.totals());
  }

  /** Every point has this time: the counts are current. */
  records(gauges: EngineGauges, serviceName: string, nowNano: number, prefix: EmittedPrefix = 'svc'): MetricRecord[] {
    const number = (value: number, attributes: Attributes = []): NumberPoint => ({
      value,
      attributes,
      timestamp_unix_nano: nowNano,
    });
    const record = (
      name: string,
      metric_type: MetricType,
      unit: string,
      description: string,
      data_points: readonly (NumberPoint | HistogramPoint)[],
    ): MetricRecord => ({
      name: metricName(name, prefix),
      description,
      unit,
      metric_type,
      data_points,
      service_name: serviceName,
      timestamp_unix_nano: nowNano,
      instrumentation_scope_name: SCOPE,
    });
    const functions = [...this.#functions.values()];
    return [
      record(
        'svc.invocations.total',
        'counter',
        '1',
        'Calls by function and outcome',
        functions.flatMap((sums) =>
          sums.outcomes().map(([status, count]) =>
            number(count, [
              ['function_id', sums.functionId],
              ['status', status],
            ]),
          ),
        ),
      ),
      record(
        'svc.invocation.duration',
        'histogram',
        's',
        'How long calls took, by function and outcome',
        functions.flatMap((sums) => sums.durationPoints(nowNano)),
      ),
      record(
        'svc.invocation.errors.total',
        'counter',
        '1',
        'Calls that ended with an error, by its code',
        functions.flatMap((sums) =>
          [...sums.errors].map(([code, count]) =>
            number(count, [
              ['function_id', sums.functionId],
              ['error_code', code],
            ]),
          ),
        ),
      ),
      record('svc.workers.active', 'gauge', '1', 'Workers that are connected', [number(gauges.workersActive)]),
      record('svc.workers.spawns.total', 'counter', '1', 'Workers that have connected', [number(this.#spawns)]),
      record('svc.workers.deaths.total', 'counter', '1', 'Workers that have left', [number(this.#deaths)]),
    ].filter(({ data_points: points }) => points.length > 0);
  }

  #sums(functionId: string): FunctionSums {
    let sums = this.#functions.get(functionId);
    if (sums === undefined) {
      sums = new FunctionSums(functionId);
      this.#functions.set(functionId, sums);
    }
    return sums;
  }
}

/** Bounded like its source (`call-stats.ts`), except that every batch may bring other codes. */
class FunctionSums {
  readonly functionId: string;
  readonly ok = new DurationSums();
  readonly error = new DurationSums();
  readonly errors = new Map<string, number>();
  #deferred = 0;

  constructor(functionId: string) {
    this.functionId = functionId;
  }

  add(counts: CallCounts): void {
    this.ok.add(counts.okDurations);
    this.error.add(counts.errorDurations);
    this.#deferred += counts.deferred;
    for (const [code, count] of Object.entries(counts.errors)) {
      const isKnown = this.errors.has(code) || this.errors.size < CODES_MAX;
      const key = isKnown ? code : OTHER_CODE;
      this.errors.set(key, (this.errors.get(key) ?? 0) + count);
    }
  }

  outcomes(): [string, number][] {
    const all: [string, number][] = [
      ['ok', this.ok.count],
      ['error', this.error.count],
      ['deferred', this.#deferred],
    ];
    return all.filter(([, count]) => count > 0);
  }

  durationPoints(nowNano: number): HistogramPoint[] {
    const both = [
      ['ok', this.ok],
      ['error', this.error],
    ] as const;
    return both
      .filter(([, sums]) => sums.count > 0)
      .map(([status, sums]) => ({
        count: sums.count,
        sum: sums.sumMs / 1_000,
        bucket_counts: [...sums.buckets],
        explicit_bounds: BOUNDS_SECONDS,
        min: sums.minMs / 1_000,
        max: sums.maxMs / 1_000,
        attributes: [
          ['function_id', this.functionId],
          ['status', status],
        ],
        timestamp_unix_nano: nowNano,
      }));
  }

  totals(): FunctionTotals {
    const buckets = this.ok.buckets.map((count, index) => count + (this.error.buckets[index] ?? 0));
    const maxMs = Math.max(this.ok.maxMs, this.error.maxMs);
    return {
      function_id: this.functionId,
      ok: this.ok.count,
      error: this.error.count,
      deferred: this.#deferred,
      p50_duration_ms: percentileOfBuckets(buckets, maxMs, 0.5),
      p95_duration_ms: percentileOfBuckets(buckets, maxMs, 0.95),
      p99_duration_ms: percentileOfBuckets(buckets, maxMs, 0.99),
      errors: Object.fromEntries(this.errors),
    };
  }
}

class DurationSums {
  count = 0;
  sumMs = 0;
  minMs = 0;
  maxMs = 0;
  readonly buckets: number[] = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);

  add({ count, sum, min, max, buckets }: DurationCounts): void {
    if (count === 0) return;
    this.minMs = this.count === 0 ? min : Math.min(this.minMs, min);
    this.maxMs = Math.max(this.maxMs, max);
    this.count += count;
    this.sumMs += sum;
    for (const [index, counted] of buckets.entries()) this.buckets[index] = (this.buckets[index] ?? 0) + counted;
  }
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
