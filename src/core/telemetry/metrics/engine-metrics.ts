// The engine's own counts since its start, as metrics with the names of modules 11.6: for export, for Prometheus, and
// by function for `svc top`. Fed with the batches of the router's thread (`intake.ts`).

import { type CallCounts, DURATION_BOUNDS_MS, type DurationCounts, type WorkerCounts } from '../records/intake.ts';
import type { Attributes, HistogramPoint, MetricRecord, MetricType, NumberPoint } from '../records/records.ts';
import { CODES_MAX, OTHER_CODE } from './call-stats.ts';
import { NO_DURATIONS, percentileOfBuckets, sumOfDurations } from './durations.ts';
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
  /** For the engine that merges the answer. */
  readonly durations?: DurationCounts;
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

  functionTotals(withDurations: boolean): FunctionTotals[] {
    return [...this.#functions.values()].map((sums) => sums.totals(withDurations));
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
  ok = NO_DURATIONS;
  error = NO_DURATIONS;
  readonly errors = new Map<string, number>();
  #deferred = 0;

  constructor(functionId: string) {
    this.functionId = functionId;
  }

  add(counts: CallCounts): void {
    this.ok = sumOfDurations(this.ok, counts.okDurations);
    this.error = sumOfDurations(this.error, counts.errorDurations);
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
        sum: sums.sum / 1_000,
        bucket_counts: [...sums.buckets],
        explicit_bounds: BOUNDS_SECONDS,
        min: sums.min / 1_000,
        max: sums.max / 1_000,
        attributes: [
          ['function_id', this.functionId],
          ['status', status],
        ],
        timestamp_unix_nano: nowNano,
      }));
  }

  totals(withDurations: boolean): FunctionTotals {
    const durations = sumOfDurations(this.ok, this.error);
    return {
      function_id: this.functionId,
      ok: this.ok.count,
      error: this.error.count,
      deferred: this.#deferred,
      ...percentilesOf(durations),
      errors: Object.fromEntries(this.errors),
      ...(withDurations && { durations }),
    };
  }
}

export function percentilesOf({ buckets, max }: Pick<DurationCounts, 'buckets' | 'max'>) {
  return {
    p50_duration_ms: percentileOfBuckets(buckets, max, 0.5),
    p95_duration_ms: percentileOfBuckets(buckets, max, 0.95),
    p99_duration_ms: percentileOfBuckets(buckets, max, 0.99),
  };
}
