// The metrics of all engines of a cluster: sums, and percentiles of the summed durations.

import type { DurationCounts } from '../records/intake.ts';
import type { MetricRecord } from '../records/records.ts';
import type { AggregateRow } from './aggregate.ts';
import { type DurationSummary, NO_DURATIONS, summaryOf, sumOfDurations } from './durations.ts';
import type { EngineCounters } from './engine-counters.ts';
import { type FunctionTotals, percentilesOf } from './engine-metrics.ts';

export interface EngineAndWorkerMetrics {
  engine_metrics: {
    invocations: EngineCounters['invocations'] & { by_function: Record<string, number> };
    functions: readonly FunctionTotals[];
    workers: EngineCounters['workers'];
    /** `durations`: for the engine that merges the answer. */
    performance: DurationSummary & { readonly durations?: DurationCounts };
  };
  sdk_metrics: MetricRecord[];
  aggregated_metrics?: AggregateRow[];
  timestamp: number;
  query?: unknown;
}

export function mergedMetrics(
  first: EngineAndWorkerMetrics,
  rest: readonly EngineAndWorkerMetrics[],
): EngineAndWorkerMetrics {
  const all = [first, ...rest];
  const engines = all.map(({ engine_metrics: metrics }) => metrics);
  const aggregated = mergedAggregates(all.flatMap(({ aggregated_metrics: rows }) => rows ?? []));
  const { aggregated_metrics: _rows, ...answer } = first;
  return {
    ...answer,
    engine_metrics: {
      invocations: {
        total: sumBy(engines, ({ invocations }) => invocations.total),
        success: sumBy(engines, ({ invocations }) => invocations.success),
        error: sumBy(engines, ({ invocations }) => invocations.error),
        deferred: sumBy(engines, ({ invocations }) => invocations.deferred),
        by_function: sumsByName(engines.map(({ invocations }) => invocations.by_function)),
      },
      functions: mergedFunctions(engines.flatMap(({ functions }) => functions)),
      workers: {
        spawns: sumBy(engines, ({ workers }) => workers.spawns),
        deaths: sumBy(engines, ({ workers }) => workers.deaths),
        active: sumBy(engines, ({ workers }) => workers.active),
      },
      performance: summaryOf(
        engines.reduce(
          (sum, { performance: { durations } }) => sumOfDurations(sum, durations ?? NO_DURATIONS),
          NO_DURATIONS,
        ),
      ),
    },
    sdk_metrics: all.flatMap(({ sdk_metrics: metrics }) => metrics),
    ...(aggregated.length > 0 && { aggregated_metrics: aggregated }),
  };
}

function mergedFunctions(rows: readonly FunctionTotals[]): FunctionTotals[] {
  const merged = new Map<string, FunctionTotals>();
  for (const row of rows) {
    const known = merged.get(row.function_id);
    merged.set(row.function_id, known === undefined ? row : sumOfFunctions(known, row));
  }
  return [...merged.values()].map(({ durations, ...row }) => ({ ...row, ...percentilesOf(durations ?? NO_DURATIONS) }));
}

function sumOfFunctions(one: FunctionTotals, other: FunctionTotals): FunctionTotals {
  return {
    ...one,
    ok: one.ok + other.ok,
    error: one.error + other.error,
    deferred: one.deferred + other.deferred,
    errors: sumsByName([one.errors, other.errors]),
    durations: sumOfDurations(one.durations ?? NO_DURATIONS, other.durations ?? NO_DURATIONS),
  };
}

/** Percentiles of buckets that several engines filled are unknown. */
export function mergedAggregates(rows: readonly AggregateRow[]): AggregateRow[] {
  const merged = new Map<string, AggregateRow>();
  for (const row of rows) {
    const key = `${row.bucket_start_ns} ${row.name}`;
    const known = merged.get(key);
    if (known === undefined) {
      merged.set(key, row);
      continue;
    }
    const { percentiles: _unknown, ...both } = known;
    const [count, sum] = [known.count + row.count, known.sum + row.sum];
    const [min, max] = [Math.min(known.min, row.min), Math.max(known.max, row.max)];
    merged.set(key, { ...both, count, sum, min, max, avg: sum / count });
  }
  return [...merged.values()].sort((a, b) => a.bucket_start_ns - b.bucket_start_ns || (a.name < b.name ? -1 : 1));
}

function sumBy<Row>(rows: readonly Row[], count: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + count(row), 0);
}

function sumsByName(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) sums.set(name, (sums.get(name) ?? 0) + count);
  return Object.fromEntries(sums);
}
