// Traces, logs, metrics, alerts and sampling: the functions of the observability module, in the console's shapes.

import type {
  LogHistogram,
  LogHistogramRequest,
  LogRow,
  LogSearch,
  RetainedList,
  TraceFacets,
  TraceRow,
  TraceSearch,
} from '../../../console/api/telemetry.ts';
import {
  validateCallsQuery,
  validateEmpty,
  validateJobCountsQuery,
  validateLogHistogram,
  validateLogSearch,
  validateMetricsQuery,
  validateNoQuery,
  validateRangeQuery,
  validateRollupsQuery,
  validateTraceSearch,
} from '../../../generated/console-requests.ts';
import type { ConsoleContext } from '../console-context.ts';
import { type Answers, missingSetting } from '../sources/built-ins.ts';
import { placeOf } from './page.ts';
import { type Route, reading, sending } from './route.ts';

export function telemetryRoutes({ builtIns }: ConsoleContext): readonly Route[] {
  return [
    sending('POST /traces/search', validateTraceSearch, ({ body }) => searchTraces({ builtIns }, body)),
    reading('GET /traces/facets', validateRangeQuery, ({ query }) => facetsOf({ builtIns }, query)),
    reading('DELETE /traces', validateNoQuery, () => builtIns.ask('engine::traces::clear', {})),
    sending('POST /logs/search', validateLogSearch, async ({ body }) => {
      await needLogs(builtIns);
      return await searchLogs({ builtIns }, body);
    }),
    sending('POST /logs/histogram', validateLogHistogram, async ({ body }) => {
      await needLogs(builtIns);
      return await histogramOf({ builtIns }, body);
    }),
    reading('DELETE /logs', validateNoQuery, () => builtIns.ask('engine::logs::clear', {})),
    reading('GET /calls', validateCallsQuery, ({ query }) => {
      return builtIns.ask('engine::metrics::calls', { ...query, by_function: query.function_id !== undefined });
    }),
    reading('GET /job-counts', validateJobCountsQuery, ({ query }) => {
      return builtIns.ask('engine::metrics::jobs', query);
    }),
    reading('GET /metrics', validateMetricsQuery, ({ query }) => builtIns.ask('engine::metrics::list', query)),
    reading('GET /rollups', validateRollupsQuery, ({ query }) => builtIns.ask('engine::rollups::list', query)),
    reading('GET /alerts', validateNoQuery, () => builtIns.ask('engine::alerts::list', {})),
    sending('POST /alerts/evaluate', validateEmpty, () => builtIns.ask('engine::alerts::evaluate', {})),
    reading('GET /sampling', validateNoQuery, () => builtIns.ask('engine::sampling::rules', {})),
  ];
}

export async function searchTraces(
  { builtIns }: Pick<ConsoleContext, 'builtIns'>,
  search: TraceSearch,
): Promise<RetainedList<TraceRow>> {
  const { limit, offset } = placeOf(search);
  const { limit: _limit, cursor: _cursor, sort, order, function_id, attributes = [], ...filters } = search;
  const asked = {
    search_all_spans: true,
    ...filters,
    attributes: function_id === undefined ? attributes : [...attributes, ['function_id', function_id]],
    sort_by: sort ?? 'start_time',
    sort_order: order ?? 'desc',
    offset,
    limit,
  };
  const { spans, total, retention, missing_engines } = await builtIns.ask('engine::traces::list', asked);
  const end = offset + spans.length;
  const next_cursor = end < total ? String(end) : null;
  return { items: spans.map(traceRow), next_cursor, total, retention, ...(missing_engines && { missing_engines }) };
}

export function traceRow(span: Answers['engine::traces::list']['spans'][number]): TraceRow {
  return {
    trace_id: span.trace_id,
    root_span_id: span.span_id,
    name: span.name,
    service_name: span.service_name,
    status: span.trace_status ?? (span.pending === true ? 'pending' : span.has_error ? 'error' : 'ok'),
    start_time_unix_nano: span.start_time_unix_nano,
    duration_ms: span.duration_ms,
    span_count: span.span_count,
    error_count: span.error_count ?? Number(span.has_error),
    services: [...span.services],
    internal: span.attributes.some(
      ([key, value]) => (key.endsWith('.function.kind') && value === 'internal') || isEngineFunction(key, value),
    ),
  };
}

function isEngineFunction(key: string, value: string): boolean {
  return key === 'function_id' && value.startsWith('engine::');
}

async function needLogs(builtIns: ConsoleContext['builtIns']): Promise<void> {
  const { components } = await builtIns.ask('engine::health::check', {});
  if (components.logs?.status !== 'disabled') return;
  throw missingSetting('logs_enabled: true', 'Logs are not kept here: set logs_enabled of svc-observability to true');
}

async function searchLogs(
  { builtIns }: Pick<ConsoleContext, 'builtIns'>,
  search: LogSearch,
): Promise<RetainedList<LogRow>> {
  const { around, order } = search;
  if (around !== undefined) {
    const { id, before, after } = around;
    const [number = '', engine] = id.split('@');
    const asked = { log_id: Number(number), ...(engine !== undefined && { engine }), before, after };
    const { logs } = await builtIns.ask('engine::logs::context', asked);
    const items = logs.map((log) => logRow({ ...log, ...(engine !== undefined && { engine }) }));
    return { items: order === 'asc' ? items : items.reverse(), next_cursor: null, total: logs.length };
  }
  const { limit, offset } = placeOf(search);
  const asked = { ...logFilter(search), order: order ?? 'desc', limit, offset };
  const { logs, total, retention, missing_engines } = await builtIns.ask('engine::logs::search', asked);
  const end = offset + logs.length;
  const next_cursor = end < total ? String(end) : null;
  return {
    ...{ items: logs.map(logRow), next_cursor, total },
    ...(retention && { retention }),
    ...(missing_engines && { missing_engines }),
  };
}

async function histogramOf(
  { builtIns }: Pick<ConsoleContext, 'builtIns'>,
  body: LogHistogramRequest,
): Promise<LogHistogram> {
  const filter = logFilter(body);
  const asked = { ...filter, ...(body.buckets !== undefined && { buckets: body.buckets }) };
  const [histogram, { services }] = await Promise.all([
    builtIns.ask('engine::logs::histogram', asked),
    builtIns.ask('engine::logs::search', { ...filter, limit: 0 }),
  ]);
  return {
    start_time: histogram.start_ms,
    end_time: histogram.end_ms,
    bucket_ms: histogram.bucket_ms,
    buckets: histogram.buckets.map(({ start_ms, counts }) => ({
      start: start_ms,
      trace: counts.TRACE,
      debug: counts.DEBUG,
      info: counts.INFO,
      warn: counts.WARN,
      error: counts.ERROR,
    })),
    services: services.map(({ service_name, count }) => ({ value: service_name, count })),
  };
}

/** The filter in the form that the functions of the observability module take. */
export function logFilter(search: Omit<LogHistogramRequest, 'buckets'>) {
  const { start_time, end_time, trace_id, span_id, severity_min, severities, service_name, q } = search;
  return {
    start_time,
    end_time,
    trace_id,
    span_id,
    severity_min,
    severities,
    ...(service_name !== undefined && { services: [service_name] }),
    ...(q !== undefined && { query: q }),
  };
}

/** The newest traces, in which names and services are counted. */
const FACET_TRACES = 500;

async function facetsOf({ builtIns }: Pick<ConsoleContext, 'builtIns'>, range: TimeRange): Promise<TraceFacets> {
  const recent = { ...range, sort_by: 'start_time', sort_order: 'desc', limit: FACET_TRACES };
  const [{ facets }, { spans }] = await Promise.all([
    builtIns.ask('engine::traces::facets', {}),
    builtIns.ask('engine::traces::list', recent),
  ]);
  return {
    services: counted(spans.flatMap(({ services }) => services)),
    names: counted(spans.map(({ name }) => name)),
    attributes: facets.map(({ key, values }) => ({ key, values: [...values] })),
  };
}

interface TimeRange {
  readonly start_time?: number;
  readonly end_time?: number;
}

/** Most frequent first. */
function counted(values: readonly string[]): { value: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([value, count]) => ({ value, count }));
}

export function logRow({ log_id, engine, ...record }: Answers['engine::logs::search']['logs'][number]): LogRow {
  return { ...record, id: engine === undefined ? String(log_id) : `${log_id}@${engine}` };
}
