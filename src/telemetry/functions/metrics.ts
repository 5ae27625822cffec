// `engine::metrics::…`: the engine's own counts and the metrics of workers, as JSON and in the text format of
// Prometheus. The HTTP port calls it for `/metrics`.

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { countDurations, type DurationSummary, summaryOf } from '../../core/telemetry/metrics/durations.ts';
import {
  AGGREGATES_MAX,
  aggregateMetrics,
  listMetrics,
  type MetricFilter,
} from '../../core/telemetry/metrics/metric-list.ts';
import { prometheusText } from '../../core/telemetry/metrics/prometheus.ts';
import type { SpanStore } from '../../core/telemetry/spans/span-store.ts';
import { percentile } from '../../core/telemetry/spans/trace-groups.ts';
import { durationMs } from '../../core/telemetry/spans/trace-list.ts';
import { validateMetricsCalls, validateMetricsJobs, validateMetricsList } from '../../generated/telemetry-payloads.ts';
import type { TelemetryFunction, TelemetryStores } from './definition.ts';
import { numberOr, optionalNumber, timeRange } from './payloads.ts';

const INTERVAL_SECONDS = { min: 1, max: 7 * 86_400 };

const list: TelemetryFunction<'engine::metrics::list'> = {
  id: 'engine::metrics::list',
  run(given, stores) {
    const payload = readPayload(list.id, validateMetricsList, given);
    const interval = optionalNumber('aggregate_interval', payload.aggregate_interval, INTERVAL_SECONDS);
    const filter = { ...timeRange(payload), name: payload.metric_name ?? undefined };
    const hasRange = filter.startTime !== undefined || filter.endTime !== undefined;
    return {
      engine_metrics: engineMetrics(stores, filter),
      sdk_metrics: stores.metrics === undefined ? [] : listMetrics(stores.metrics, filter),
      ...(interval !== undefined && hasRange && aggregatesOf(stores, filter, interval * 1_000)),
      timestamp: stores.nowMs,
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
function aggregatesOf({ metrics }: TelemetryStores, filter: MetricFilter, intervalMs: number) {
  const rows = metrics === undefined ? [] : aggregateMetrics(metrics, filter, intervalMs);
  if (rows === undefined) {
    const text = `More than ${AGGREGATES_MAX} buckets: ask for a longer 'aggregate_interval', one metric or less time`;
    throw new Refusal('RESULT_TOO_LARGE', text);
  }
  return rows.length > 0 && { aggregated_metrics: rows };
}

function engineMetrics(stores: TelemetryStores, filter: MetricFilter) {
  const { counters, functions, isPart } = stores;
  const totals = functions.functionTotals(isPart);
  const byFunction = totals.map(({ function_id: id, ok, error, deferred }) => [id, ok + error + deferred]);
  return {
    invocations: { ...counters.invocations, by_function: Object.fromEntries(byFunction) },
    functions: totals,
    workers: counters.workers,
    performance: performanceOf(stores, filter),
  };
}

/** From the spans of calls where they are kept; otherwise from the counts, which have only one time range. */
function performanceOf({ counters, spans, nowMs, isPart }: TelemetryStores, filter: MetricFilter) {
  const durationsMs = spans === undefined ? [] : durationsIn(spans, filter, nowMs);
  if (!isPart && durationsMs.length > 0) return exactSummaryOf(durationsMs);
  const durations = durationsMs.length === 0 ? counters.durations : countDurations(durationsMs);
  return { ...summaryOf(durations), ...(isPart && { durations }) };
}

function durationsIn(spans: SpanStore, filter: MetricFilter, nowMs: number): number[] {
  const { startTime = 0, endTime = Number.POSITIVE_INFINITY } = filter;
  const durationsMs: number[] = [];
  for (const trace of spans.traces()) {
    for (const { record } of trace.spans.values()) {
      if (record.pending === true || !record.name.startsWith('call ')) continue;
      const endMs = record.end_time_unix_nano / 1e6;
      if (endMs >= startTime && endMs <= endTime) durationsMs.push(durationMs(record, nowMs));
    }
  }
  return durationsMs;
}

function exactSummaryOf(durationsMs: readonly number[]): DurationSummary {
  const sorted = Float64Array.from(durationsMs).sort();
  return {
    avg_duration_ms: sorted.reduce((sum, duration) => sum + duration, 0) / sorted.length,
    p50_duration_ms: percentile(sorted, 0.5),
    p95_duration_ms: percentile(sorted, 0.95),
    p99_duration_ms: percentile(sorted, 0.99),
    min_duration_ms: sorted[0] ?? 0,
    max_duration_ms: sorted.at(-1) ?? 0,
  };
}

/** Older points are from workers that have left or no longer measure. */
const POINTS_MS = 5 * 60_000;

const exposition: TelemetryFunction<'engine::metrics::prometheus'> = {
  id: 'engine::metrics::prometheus',
  run(payload, { engineMetrics, metrics, nowMs }) {
    const filter = { name: undefined, startTime: nowMs - POINTS_MS, endTime: undefined };
    const measured = metrics === undefined ? [] : listMetrics(metrics, filter);
    return { text: prometheusText([...engineMetrics(), ...measured], new Set(withoutOf(payload))) };
  },
};

/** Names that the caller writes itself. */
function withoutOf(payload: unknown): string[] {
  const names = typeof payload === 'object' && payload !== null && 'without' in payload ? payload.without : [];
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

/** The window of a request that names none. */
const CALLS_WINDOW_MS = 5 * 60_000;
/** As many points as a wide chart has pixels for. */
const POINTS = { min: 0, max: 500, isWhole: true };
/** Of 2 000 functions they make an answer of some 5 MB. */
const POINTS_OF_ALL_MAX = 20;

const calls: TelemetryFunction<'engine::metrics::calls'> = {
  id: 'engine::metrics::calls',
  run(given, { history, nowMs, isPart }) {
    const payload = readPayload(calls.id, validateMetricsCalls, given);
    const { startTime, endTime = nowMs } = timeRange(payload);
    const points = numberOr('points', payload.points, 0, POINTS);
    const functionId = payload.function_id ?? undefined;
    const isTotal = payload.by_function === false && functionId === undefined;
    if (!isTotal && functionId === undefined && points > POINTS_OF_ALL_MAX) {
      const text = `The limit of 'points' for all functions is ${POINTS_OF_ALL_MAX}`;
      throw new Refusal('BAD_REQUEST', `${text}: name a 'function_id', or set 'by_function' to false`);
    }
    return history.answer({
      startMs: startTime ?? endTime - CALLS_WINDOW_MS,
      endMs: Math.max(endTime, startTime ?? 0),
      points,
      functionId: isTotal ? null : functionId,
      withEdges: payload.edges ?? false,
      withHistograms: isPart,
    });
  },
};

const jobs: TelemetryFunction<'engine::metrics::jobs'> = {
  id: 'engine::metrics::jobs',
  run(given, { history, nowMs, isPart }) {
    const payload = readPayload(jobs.id, validateMetricsJobs, given);
    const { startTime, endTime = nowMs } = timeRange(payload);
    const points = numberOr('points', payload.points, 0, POINTS);
    const queue = payload.queue ?? undefined;
    if (queue === undefined && points > POINTS_OF_ALL_MAX) {
      throw new Refusal('BAD_REQUEST', `The limit of 'points' for all queues is ${POINTS_OF_ALL_MAX}: name a 'queue'`);
    }
    const startMs = startTime ?? endTime - CALLS_WINDOW_MS;
    return history.jobs({ startMs, endMs: Math.max(endTime, startMs), points, queue, withHistograms: isPart });
  },
};

export const metricFunctions: readonly TelemetryFunction[] = [list, calls, jobs, exposition];
