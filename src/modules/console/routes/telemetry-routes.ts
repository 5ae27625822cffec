// Traces, logs, metrics, alerts and sampling: the functions of the observability module, in the console's shapes.

import type { List } from '../../../console-api/envelope.ts';
import type {
  LogHistogram,
  LogHistogramRequest,
  LogRow,
  LogSearch,
  Sampling,
  TraceFacets,
  TraceRow,
  TraceSearch,
} from '../../../console-api/telemetry.ts';
import {
  isAlerts,
  isAlertsEvaluated,
  isCleared,
  isFacets,
  isHealth,
  isHistogram,
  isLogList,
  isLogPage,
  isMetrics,
  isRollups,
  isSampling,
  isTracePage,
} from '../../../generated/console-answers.ts';
import {
  validateEmpty,
  validateLogHistogram,
  validateLogSearch,
  validateMetricsQuery,
  validateNoQuery,
  validateRangeQuery,
  validateRollupsQuery,
  validateTraceSearch,
} from '../../../generated/console-requests.ts';
import type { Desk } from '../desk.ts';
import type {
  FacetsAnswer,
  HealthAnswer,
  HistogramAnswer,
  LogList,
  LogPage,
  TraceListRow,
  TracePage,
} from '../facts/answers.ts';
import { missingSetting } from '../facts/built-ins.ts';
import { logRow } from './log-rows.ts';
import { placeOf } from './page.ts';
import { type Route, reading, sending } from './route.ts';

export function telemetryRoutes({ builtIns }: Desk): readonly Route[] {
  return [
    sending('POST /traces/search', validateTraceSearch, ({ body }) => searchTraces({ builtIns }, body)),
    reading('GET /traces/facets', validateRangeQuery, ({ query }) => facetsOf({ builtIns }, query)),
    reading('DELETE /traces', validateNoQuery, () => builtIns.typed('engine::traces::clear', {}, isCleared)),
    sending('POST /logs/search', validateLogSearch, async ({ body }) => {
      await needLogs(builtIns);
      return await searchLogs({ builtIns }, body);
    }),
    sending('POST /logs/histogram', validateLogHistogram, async ({ body }) => {
      await needLogs(builtIns);
      return await histogramOf({ builtIns }, body);
    }),
    reading('DELETE /logs', validateNoQuery, () => builtIns.typed('engine::logs::clear', {}, isCleared)),
    reading('GET /metrics', validateMetricsQuery, ({ query }) =>
      builtIns.typed('engine::metrics::list', query, isMetrics),
    ),
    reading('GET /rollups', validateRollupsQuery, ({ query }) =>
      builtIns.typed('engine::rollups::list', query, isRollups),
    ),
    reading('GET /alerts', validateNoQuery, () => builtIns.typed('engine::alerts::list', {}, isAlerts)),
    sending('POST /alerts/evaluate', validateEmpty, () =>
      builtIns.typed('engine::alerts::evaluate', {}, isAlertsEvaluated),
    ),
    reading('GET /sampling', validateNoQuery, () =>
      builtIns.typed<Sampling>('engine::sampling::rules', {}, isSampling),
    ),
  ];
}

export async function searchTraces({ builtIns }: Pick<Desk, 'builtIns'>, search: TraceSearch): Promise<List<TraceRow>> {
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
  const { spans, total } = await builtIns.typed<TracePage>('engine::traces::list', asked, isTracePage);
  const end = offset + spans.length;
  return { items: spans.map(traceRow), next_cursor: end < total ? String(end) : null, total };
}

export function traceRow(span: TraceListRow): TraceRow {
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
    services: span.services,
    internal: span.attributes.some(
      ([key, value]) => (key.endsWith('.function.kind') && value === 'internal') || isEngineFunction(key, value),
    ),
  };
}

function isEngineFunction(key: string, value: string): boolean {
  return key === 'function_id' && value.startsWith('engine::');
}

async function needLogs(builtIns: Desk['builtIns']): Promise<void> {
  const { components } = await builtIns.typed<HealthAnswer>('engine::health::check', {}, isHealth);
  if (components.logs?.status !== 'disabled') return;
  throw missingSetting('logs_enabled: true', 'Logs are not kept here: set logs_enabled of svc-observability to true');
}

async function searchLogs({ builtIns }: Pick<Desk, 'builtIns'>, search: LogSearch): Promise<List<LogRow>> {
  const { around, order } = search;
  if (around !== undefined) {
    const { id, before, after } = around;
    const asked = { log_id: Number(id), before, after };
    const { logs } = await builtIns.typed<LogList>('engine::logs::context', asked, isLogList);
    const items = logs.map(logRow);
    return { items: order === 'asc' ? items : items.reverse(), next_cursor: null, total: logs.length };
  }
  const { limit, offset } = placeOf(search);
  const asked = { ...logFilter(search), order: order ?? 'desc', limit, offset };
  const { logs, total } = await builtIns.typed<LogPage>('engine::logs::search', asked, isLogPage);
  const end = offset + logs.length;
  return { items: logs.map(logRow), next_cursor: end < total ? String(end) : null, total };
}

async function histogramOf({ builtIns }: Pick<Desk, 'builtIns'>, body: LogHistogramRequest): Promise<LogHistogram> {
  const filter = logFilter(body);
  const asked = { ...filter, ...(body.buckets !== undefined && { buckets: body.buckets }) };
  const [histogram, { services }] = await Promise.all([
    builtIns.typed<HistogramAnswer>('engine::logs::histogram', asked, isHistogram),
    builtIns.typed<LogPage>('engine::logs::search', { ...filter, limit: 0 }, isLogPage),
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

async function facetsOf({ builtIns }: Pick<Desk, 'builtIns'>, range: TimeRange): Promise<TraceFacets> {
  const recent = { ...range, sort_by: 'start_time', sort_order: 'desc', limit: FACET_TRACES };
  const [{ facets }, { spans }] = await Promise.all([
    builtIns.typed<FacetsAnswer>('engine::traces::facets', {}, isFacets),
    builtIns.typed<TracePage>('engine::traces::list', recent, isTracePage),
  ]);
  return {
    services: counted(spans.flatMap(({ services }) => services)),
    names: counted(spans.map(({ name }) => name)),
    attributes: facets.map(({ key, values }) => ({ key, values })),
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
