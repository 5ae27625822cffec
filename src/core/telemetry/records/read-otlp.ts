// Parses OTLP/JSON requests of workers into records: spans, logs, and of the metrics gauges, sums and histograms (wire
// 1.11). Nothing is trusted: data with a wrong shape is left out and counted.

import { severityTextOf } from '../logs/log-record.ts';
import { boundAttributes, boundSpan } from '../spans/span-records.ts';
import type { TelemetryKind } from './intake.ts';
import {
  type Fields,
  fieldsOf,
  idOf,
  jsonValueOf,
  listOf,
  notAhead,
  numberOf,
  pairsOf,
  recordOf,
  textForm,
  textOf,
} from './otlp-values.ts';
import type {
  HistogramPoint,
  LogRecord,
  MetricRecord,
  MetricType,
  NumberPoint,
  SpanRecord,
  SpanStatus,
} from './records.ts';
import { sharedAttributes } from './shared-attributes.ts';

export interface ReadFrame {
  readonly spans: SpanRecord[];
  readonly logs: LogRecord[];
  readonly metrics: MetricRecord[];
}

export interface ReadContext {
  readonly nowMs: number;
  /** Counts data that was left out or cut. */
  dropped(reason: string): void;
  /** Whether a log trigger caused that trace. */
  isQuiet(traceId: string): boolean;
}

/** The origin of records: what all records below it share. */
interface Origin {
  readonly serviceName: string;
  readonly resource: Readonly<Record<string, string>>;
  readonly scope: { readonly instrumentation_scope_name?: string; readonly instrumentation_scope_version?: string };
}

/** The limit of one frame: many batches of any SDK. */
const RECORDS_MAX = 50_000;
const RESOURCE_ENTRIES_MAX = 64;
const RESOURCE_KEY_CHARS_MAX = 256;

export function readFrame(kind: TelemetryKind, bytes: Uint8Array, context: ReadContext): ReadFrame {
  const frame: ReadFrame = { spans: [], logs: [], metrics: [] };
  const request = parse(bytes);
  if (request === undefined) context.dropped('unreadable');
  else if (kind === 'OTLP') readAll(request.resourceSpans, 'scopeSpans', 'spans', context, spanReader(frame, context));
  else if (kind === 'LOGS')
    readAll(request.resourceLogs, 'scopeLogs', 'logRecords', context, logReader(frame, context));
  else readAll(request.resourceMetrics, 'scopeMetrics', 'metrics', context, metricReader(frame, context));
  return frame;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Uint8Array): Fields | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

type ReadOne = (item: Fields, origin: Origin) => void;

function readAll(resources: unknown, scopesKey: string, itemsKey: string, context: ReadContext, read: ReadOne): void {
  let count = 0;
  for (const resource of listOf(resources).map(fieldsOf)) {
    const identity = resourceOf(resource.resource);
    for (const scope of listOf(resource[scopesKey]).map(fieldsOf)) {
      const origin = { ...identity, scope: scopeOf(scope.scope) };
      for (const item of listOf(scope[itemsKey])) {
        if (++count > RECORDS_MAX) return context.dropped('frame_too_large');
        read(fieldsOf(item), origin);
      }
    }
  }
}

function resourceOf(given: unknown): Omit<Origin, 'scope'> {
  const resource: Record<string, string> = Object.create(null);
  const pairs = pairsOf(fieldsOf(given).attributes).slice(0, RESOURCE_ENTRIES_MAX);
  for (const [key, value] of pairs) resource[key.slice(0, RESOURCE_KEY_CHARS_MAX)] = value.slice(0, 1_024);
  return { resource, serviceName: resource['service.name'] || 'unknown' };
}

function scopeOf(given: unknown): Origin['scope'] {
  const { name, version } = fieldsOf(given);
  return {
    ...(typeof name === 'string' && name !== '' && { instrumentation_scope_name: name.slice(0, 256) }),
    ...(typeof version === 'string' && version !== '' && { instrumentation_scope_version: version.slice(0, 256) }),
  };
}

function spanReader(frame: ReadFrame, context: ReadContext): ReadOne {
  return (item, origin) => {
    const span = readSpan(item, origin);
    if (span === undefined) context.dropped('malformed');
    else frame.spans.push(boundSpan(span, () => context.dropped('truncated')));
  };
}

/** Shared by all spans without any. */
const NONE: readonly never[] = [];

function readSpan(item: Fields, { serviceName, scope }: Origin): SpanRecord | undefined {
  const traceId = idOf(item.traceId, 32);
  const spanId = idOf(item.spanId, 16);
  const start = numberOf(item.startTimeUnixNano);
  const end = numberOf(item.endTimeUnixNano) ?? 0;
  if (traceId === undefined || spanId === undefined || start === undefined || start <= 0) return undefined;
  const status = fieldsOf(item.status);
  const flags = numberOf(item.flags);
  const state = textOf(item.traceState).slice(0, 512);
  const [events, links] = [listOf(item.events), listOf(item.links)];
  return {
    trace_id: traceId,
    span_id: spanId,
    parent_span_id: idOf(item.parentSpanId, 16) ?? null,
    name: textOf(item.name),
    start_time_unix_nano: start,
    end_time_unix_nano: end <= 0 ? 0 : Math.max(start, end),
    status: statusOf(status.code),
    ...(textOf(status.message) !== '' && { status_description: textOf(status.message).slice(0, 4_096) }),
    attributes: sharedAttributes(pairsOf(item.attributes)),
    service_name: serviceName,
    events: events.length === 0 ? NONE : events.map(readEvent),
    links: links.length === 0 ? NONE : links.flatMap(readLink),
    ...scope,
    ...(flags !== undefined && { flags }),
    ...(state !== '' && { trace_state: state }),
    ...(end <= 0 && { pending: true }),
  };
}

function statusOf(code: unknown): SpanStatus {
  if (code === 1 || code === 'STATUS_CODE_OK') return 'ok';
  return code === 2 || code === 'STATUS_CODE_ERROR' ? 'error' : 'unset';
}

function readEvent(given: unknown) {
  const event = fieldsOf(given);
  return {
    name: textOf(event.name),
    timestamp_unix_nano: numberOf(event.timeUnixNano) ?? 0,
    attributes: pairsOf(event.attributes),
  };
}

function readLink(given: unknown) {
  const link = fieldsOf(given);
  const traceId = idOf(link.traceId, 32);
  const spanId = idOf(link.spanId, 16);
  if (traceId === undefined || spanId === undefined) return [];
  return [{ trace_id: traceId, span_id: spanId, attributes: pairsOf(link.attributes) }];
}

function logReader(frame: ReadFrame, context: ReadContext): ReadOne {
  return (item, origin) => {
    frame.logs.push(readLog(item, origin, context));
  };
}

function readLog(item: Fields, { serviceName, resource, scope }: Origin, { nowMs, isQuiet }: ReadContext): LogRecord {
  const number = Math.round(numberOf(item.severityNumber) ?? 0);
  const severityNumber = number >= 1 && number <= 24 ? number : numberOfSeverity(textOf(item.severityText));
  const traceId = idOf(item.traceId, 32) ?? null;
  return {
    timestamp_unix_nano: Math.max(0, notAhead(numberOf(item.timeUnixNano) ?? 0, nowMs)),
    observed_timestamp_unix_nano: notAhead(numberOf(item.observedTimeUnixNano) || nowMs * 1e6, nowMs),
    severity_number: severityNumber,
    severity_text: severityTextOf(severityNumber),
    body: textForm(jsonValueOf(item.body)),
    attributes: recordOf(item.attributes),
    trace_id: traceId,
    span_id: idOf(item.spanId, 16) ?? null,
    resource,
    service_name: serviceName,
    ...scope,
    ...(traceId !== null && isQuiet(traceId) && { is_quiet: true }),
  };
}

const SEVERITIES: readonly string[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];

/** Where only the word was sent: INFO for an unknown word. */
function numberOfSeverity(text: string): number {
  const at = SEVERITIES.indexOf(text.toUpperCase());
  return at < 0 ? 9 : at * 4 + 1;
}

function metricReader(frame: ReadFrame, context: ReadContext): ReadOne {
  return (item, { serviceName, scope }) => {
    const metric = readMetric(item, context);
    if (metric === undefined) context.dropped('malformed');
    else frame.metrics.push({ ...metric, service_name: serviceName, ...scope });
  };
}

type Point = NumberPoint | HistogramPoint;
export type ReadMetric = Omit<MetricRecord, 'service_name'>;

interface Reading {
  readonly nowMs: number;
  dropped(reason: string): void;
}

const NAME_CHARS_MAX = 256;
const POINTS_MAX = 10_000;
const BUCKETS_MAX = 1_024;

export function readMetric(item: Fields, reading: Reading): ReadMetric | undefined {
  const name = textOf(item.name).slice(0, NAME_CHARS_MAX);
  const kind = kindOf(item);
  if (name === '' || kind === undefined) return undefined;
  const { type, data } = kind;
  const read = type === 'histogram' ? readHistogramPoint : readNumberPoint;
  const given = listOf(data.dataPoints);
  if (given.length > POINTS_MAX) reading.dropped('frame_too_large');
  const points = given.slice(0, POINTS_MAX).flatMap((point) => {
    const one = read(fieldsOf(point), reading);
    if (one === undefined) reading.dropped('malformed');
    return one === undefined ? [] : [one];
  });
  return {
    name,
    description: textOf(item.description).slice(0, NAME_CHARS_MAX * 4),
    unit: textOf(item.unit).slice(0, NAME_CHARS_MAX),
    metric_type: type,
    ...(isDelta(data) && { is_delta: true }),
    data_points: points,
    timestamp_unix_nano: points.reduce((latest, point) => Math.max(latest, point.timestamp_unix_nano), 0),
  };
}

function kindOf({ gauge, sum, histogram }: Fields): { type: MetricType; data: Fields } | undefined {
  if (gauge !== undefined) return { type: 'gauge', data: fieldsOf(gauge) };
  if (histogram !== undefined) return { type: 'histogram', data: fieldsOf(histogram) };
  if (sum === undefined) return undefined;
  const data = fieldsOf(sum);
  return { type: data.isMonotonic === true ? 'counter' : 'updowncounter', data };
}

/** OTLP/JSON uses both spellings of the enumeration. */
function isDelta({ aggregationTemporality: word }: Fields): boolean {
  return word === 1 || word === 'AGGREGATION_TEMPORALITY_DELTA';
}

function shared(point: Fields, reading: Reading) {
  const start = numberOf(point.startTimeUnixNano);
  return {
    attributes: boundAttributes(pairsOf(point.attributes), () => reading.dropped('truncated')),
    timestamp_unix_nano: notAhead(numberOf(point.timeUnixNano) || reading.nowMs * 1e6, reading.nowMs),
    // Zero means unknown.
    ...(start !== undefined && start > 0 && { start_time_unix_nano: start }),
  };
}

function readNumberPoint(point: Fields, reading: Reading): Point | undefined {
  const value = numberOf(point.asDouble) ?? numberOf(point.asInt);
  return value === undefined ? undefined : { value, ...shared(point, reading) };
}

function readHistogramPoint(point: Fields, reading: Reading): Point | undefined {
  const count = numberOf(point.count);
  const buckets = listOf(point.bucketCounts).map((bucket) => numberOf(bucket) ?? -1);
  const bounds = listOf(point.explicitBounds).map((bound) => numberOf(bound) ?? Number.NaN);
  const fits = buckets.length === 0 ? bounds.length === 0 : buckets.length === bounds.length + 1;
  const isSorted = bounds.every((bound, at) => at === 0 || bound > (bounds[at - 1] ?? bound));
  if (count === undefined || count < 0 || !fits || !isSorted || buckets.some((bucket) => bucket < 0)) return undefined;
  if (buckets.length > BUCKETS_MAX) return undefined;
  const min = numberOf(point.min);
  const max = numberOf(point.max);
  return {
    count,
    sum: numberOf(point.sum) ?? 0,
    bucket_counts: buckets,
    explicit_bounds: bounds,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...shared(point, reading),
  };
}
