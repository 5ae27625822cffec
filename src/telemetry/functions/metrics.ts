// `engine::metrics::list`: the engine's own counts, and the metrics of workers.

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import type { DurationFacts, EngineCounters } from '../../core/telemetry/metrics/engine-counters.ts';
import {
  AGGREGATES_MAX,
  aggregateMetrics,
  listMetrics,
  type MetricFilter,
} from '../../core/telemetry/metrics/metric-list.ts';
import type { SpanStore } from '../../core/telemetry/spans/span-store.ts';
import { percentile } from '../../core/telemetry/spans/trace-groups.ts';
import { durationMs } from '../../core/telemetry/spans/trace-list.ts';
import { validateMetricsList } from '../../generated/telemetry-payloads.ts';
import { optionalNumber, timeRange } from '../numbers.ts';
import type { TelemetryFunction, TelemetryWorld } from '../world.ts';

const INTERVAL_SECONDS = { min: 1, max: 7 * 86_400 };

const list: TelemetryFunction = {
  id: 'engine::metrics::list',
  run(given, world) {
    const payload = readPayload(list.id, validateMetricsList, given);
    const interval = optionalNumber('aggregate_interval', payload.aggregate_interval, INTERVAL_SECONDS);
    const filter = { ...timeRange(payload), name: payload.metric_name ?? undefined };
    const hasRange = filter.startTime !== undefined || filter.endTime !== undefined;
    return {
      engine_metrics: engineMetrics(world, filter),
      sdk_metrics: world.metrics === undefined ? [] : listMetrics(world.metrics, filter),
      ...(interval !== undefined && hasRange && aggregatesOf(world, filter, interval * 1_000)),
      timestamp: world.nowMs,
      ...((hasRange || interval !== undefined) && {
        query: {
          start_time: payload.start_time ?? null,
          end_time: payload.end_time ?? null,
          aggregate_interval: payload.aggregate_interval ?? null,
          metric_name: payload.metric_name ?? null,
        },
      }),
    };
  },
};

/** Omitted when empty. */
function aggregatesOf({ metrics }: TelemetryWorld, filter: MetricFilter, intervalMs: number) {
  const rows = metrics === undefined ? [] : aggregateMetrics(metrics, filter, intervalMs);
  if (rows === undefined) {
    const text = `More than ${AGGREGATES_MAX} buckets: ask for a longer 'aggregate_interval', one metric or less time`;
    throw new Refusal('RESULT_TOO_LARGE', text);
  }
  return rows.length > 0 && { aggregated_metrics: rows };
}

function engineMetrics({ counters, functions, spans, nowMs }: TelemetryWorld, filter: MetricFilter) {
  const totals = functions.functionTotals();
  const byFunction = totals.map(({ function_id: id, ok, error, deferred }) => [id, ok + error + deferred]);
  return {
    invocations: { ...counters.invocations, by_function: Object.fromEntries(byFunction) },
    functions: totals,
    workers: counters.workers,
    performance: performanceOf(counters, spans, filter, nowMs),
  };
}

/** From the spans of calls where they are kept; otherwise from the counts, which have only one time range. */
function performanceOf(
  counters: EngineCounters,
  spans: SpanStore | undefined,
  { startTime = 0, endTime = Number.POSITIVE_INFINITY }: MetricFilter,
  nowMs: number,
): DurationFacts {
  const durations: number[] = [];
  for (const trace of spans?.traces() ?? []) {
    for (const { record } of trace.spans.values()) {
      if (record.pending === true || !record.name.startsWith('call ')) continue;
      const endMs = record.end_time_unix_nano / 1e6;
      if (endMs >= startTime && endMs <= endTime) durations.push(durationMs(record, nowMs));
    }
  }
  if (durations.length === 0) return counters.durations() ?? NOTHING_RAN;
  const sorted = Float64Array.from(durations).sort();
  return {
    avg_duration_ms: sorted.reduce((sum, duration) => sum + duration, 0) / sorted.length,
    p50_duration_ms: percentile(sorted, 0.5),
    p95_duration_ms: percentile(sorted, 0.95),
    p99_duration_ms: percentile(sorted, 0.99),
    min_duration_ms: sorted[0] ?? 0,
    max_duration_ms: sorted.at(-1) ?? 0,
  };
}

const NOTHING_RAN: DurationFacts = {
  avg_duration_ms: 0,
  p50_duration_ms: 0,
  p95_duration_ms: 0,
  p99_duration_ms: 0,
  min_duration_ms: 0,
  max_duration_ms: 0,
};

export const metricFunctions: readonly TelemetryFunction[] = [list];
