// `engine::logs::…`

import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { type LogFilter, listed, listLogs, logHistogram, searchLogs } from '../../core/telemetry/logs/log-list.ts';
import { type LogMatcher, readLogQuery } from '../../core/telemetry/logs/log-query.ts';
import {
  validateLogsContext,
  validateLogsHistogram,
  validateLogsList,
  validateLogsSearch,
} from '../../generated/telemetry-payloads.ts';
import type { TelemetryFunction } from './definition.ts';
import {
  type LogsFilterPayload,
  type LogsListPayload,
  numberOr,
  optionalNumber,
  pageRange,
  timeRange,
} from './payloads.ts';
import { logRetention } from './retention.ts';

const LIMIT = { min: 0, max: 1_000, isWhole: true };
const SEVERITY = { min: 1, max: 24, isWhole: true };
const BUCKETS = { min: 1, max: 500, isWhole: true };
const NAMES_MAX = 200;

const list: TelemetryFunction<'engine::logs::list'> = {
  id: 'engine::logs::list',
  run(given, { logs, nowMs, isPart }) {
    const payload = readPayload(list.id, validateLogsList, given);
    const filter = readListFilter(payload);
    const { offset, limit } = pageRange(payload, isPart);
    if (logs === undefined) return { logs: [], total: 0, timestamp: nowMs };
    const page = listLogs(logs, filter, { order: 'desc', offset, limit });
    return { ...page, query: echo(payload), timestamp: nowMs };
  },
};

function readListFilter(payload: LogsListPayload): LogFilter {
  const { severity_text: text } = payload;
  return {
    ...timeRange(payload),
    traceId: payload.trace_id?.toLowerCase(),
    spanId: payload.span_id?.toLowerCase(),
    severityMin: optionalNumber('severity_min', payload.severity_min, SEVERITY),
    severityTexts: text === undefined || text === null ? undefined : [text],
    serviceNames: undefined,
    matches: undefined,
  };
}

function echo(payload: LogsListPayload): Required<LogsListPayload> {
  return {
    start_time: payload.start_time ?? null,
    end_time: payload.end_time ?? null,
    trace_id: payload.trace_id ?? null,
    span_id: payload.span_id ?? null,
    severity_min: payload.severity_min ?? null,
    severity_text: payload.severity_text ?? null,
    offset: payload.offset ?? null,
    limit: payload.limit ?? null,
  };
}

const clear: TelemetryFunction<'engine::logs::clear'> = {
  id: 'engine::logs::clear',
  run(_given, { logs, disk, nowMs }) {
    if (logs === undefined) return { success: true, message: 'Logs are not kept here' };
    logs.clear(nowMs);
    disk?.logs.clear();
    return { success: true };
  },
};

const search: TelemetryFunction<'engine::logs::search'> = {
  id: 'engine::logs::search',
  run(given, { logs, nowMs, settings, startedMs, isPart }) {
    const payload = readPayload(search.id, validateLogsSearch, given);
    const filter = readSearchFilter(payload);
    const { offset, limit } = pageRange(payload, isPart);
    if (logs === undefined) return { logs: [], total: 0, services: [], timestamp: nowMs };
    const found = searchLogs(logs, filter, { order: payload.order ?? 'desc', offset, limit });
    return { ...found, timestamp: nowMs, retention: logRetention(logs, settings, startedMs, nowMs) };
  },
};

const histogram: TelemetryFunction<'engine::logs::histogram'> = {
  id: 'engine::logs::histogram',
  run(given, { logs }) {
    const payload = readPayload(histogram.id, validateLogsHistogram, given);
    const filter = readSearchFilter(payload);
    const buckets = numberOr('buckets', payload.buckets, 60, BUCKETS);
    if (logs === undefined) return { buckets: [], start_ms: 0, end_ms: 0, bucket_ms: 0, total: 0 };
    return logHistogram(logs, filter, buckets);
  },
};

const context: TelemetryFunction<'engine::logs::context'> = {
  id: 'engine::logs::context',
  run(given, { logs }) {
    const payload = readPayload(context.id, validateLogsContext, given);
    const before = numberOr('before', payload.before, 50, LIMIT);
    const after = numberOr('after', payload.after, 50, LIMIT);
    const around = logs?.around(payload.log_id, before, after);
    if (around === undefined) throw new Refusal('NOT_FOUND', `No log record ${payload.log_id} is stored (any more)`);
    return { logs: around.map(listed), log_id: payload.log_id };
  },
};

function readSearchFilter(payload: LogsFilterPayload): LogFilter {
  if ((payload.severities?.length ?? 0) + (payload.services?.length ?? 0) > NAMES_MAX) {
    throw new Refusal('BAD_REQUEST', `'severities' and 'services' have more than ${NAMES_MAX} entries together`);
  }
  return {
    ...timeRange(payload),
    traceId: payload.trace_id?.toLowerCase(),
    spanId: payload.span_id?.toLowerCase(),
    severityMin: optionalNumber('severity_min', payload.severity_min, SEVERITY),
    severityTexts: payload.severities ?? undefined,
    serviceNames: payload.services ?? undefined,
    matches: readQuery(payload.query),
  };
}

function readQuery(query: string | null | undefined): LogMatcher | undefined {
  if (query === undefined || query === null || query.trim() === '') return undefined;
  const read = readLogQuery(query);
  if (!read.ok) throw new Refusal('BAD_REQUEST', read.reason);
  return read.matches;
}

export const logFunctions: readonly TelemetryFunction[] = [list, clear, search, histogram, context];
