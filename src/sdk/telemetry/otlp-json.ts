// OTLP/JSON bodies of a worker's telemetry (wire 1.11), and the fields of handler spans: pure functions from values to
// what is sent.

import { isSvcError } from '../calls/errors.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import type { LoggerLevel } from './telemetry.ts';

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

type OtlpValue =
  | { readonly stringValue: string }
  | { readonly intValue: number }
  | { readonly doubleValue: number }
  | { readonly boolValue: boolean };

export interface Resource {
  readonly serviceName: string;
  readonly workerId: string | undefined;
  readonly version: string;
}

const SEVERITY = { trace: 1, debug: 5, info: 9, warn: 13, error: 17 } as const;
const SCOPE_NAME = 'svc-sdk';
/** The limit for a record's message, and for all its attributes together: the engine keeps no more. */
const TEXT_CHARS_MAX = 16 * 1024;
const ATTRIBUTES_MAX = 128;

export function attributesOf(fields: Readonly<Record<string, unknown>>): OtlpAttribute[] {
  const attributes: OtlpAttribute[] = [];
  let left = TEXT_CHARS_MAX;
  for (const [key, given] of Object.entries(fields)) {
    if (given === undefined) continue;
    const value = otlpValue(given, left);
    left -= key.length + ('stringValue' in value ? value.stringValue.length : 1);
    if (left < 0 || attributes.length === ATTRIBUTES_MAX) {
      attributes.push({ key: 'svc.truncated', value: { boolValue: true } });
      break;
    }
    attributes.push({ key, value });
  }
  return attributes;
}

function otlpValue(value: unknown, charsMax: number): OtlpValue {
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number' && Number.isFinite(value)) {
    return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value };
  }
  return { stringValue: textOf(value).slice(0, charsMax) };
}

/** Never throws: a value without a JSON form, such as a cycle, becomes its `toString` text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) return value.stack ?? `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return fallbackText(value);
  }
}

function fallbackText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return '[no text]';
  }
}

export interface LogEntry {
  readonly level: LoggerLevel;
  readonly message: string;
  /** Unix milliseconds. */
  readonly timeMs: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly ids: { readonly trace_id: string; readonly span_id: string } | undefined;
}

export function logsBody(resource: Resource, entries: readonly LogEntry[]): string {
  const logRecords = entries.map(({ level, message, timeMs, attributes, ids }) => ({
    timeUnixNano: nanos(timeMs),
    observedTimeUnixNano: nanos(timeMs),
    severityNumber: SEVERITY[level],
    severityText: level.toUpperCase(),
    body: { stringValue: message.slice(0, TEXT_CHARS_MAX) },
    attributes,
    ...(ids !== undefined && { traceId: ids.trace_id, spanId: ids.span_id }),
  }));
  return JSON.stringify({
    resourceLogs: [{ ...about(resource), scopeLogs: [{ scope: scopeOf(resource), logRecords }] }],
  });
}

export interface SpanEntry {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly error: { readonly type: string; readonly message: string; readonly stack: string } | undefined;
}

const INTERNAL = 1;
const STATUS_OK = 1;
const STATUS_ERROR = 2;

export function spansBody(resource: Resource, entries: readonly SpanEntry[]): string {
  const spans = entries.map(({ traceId, spanId, parentSpanId, name, startMs, endMs, attributes, error }) => ({
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes,
    events: error === undefined ? [] : [exceptionEvent(endMs, error)],
    status: error === undefined ? { code: STATUS_OK } : { code: STATUS_ERROR, message: error.message },
  }));
  return JSON.stringify({ resourceSpans: [{ ...about(resource), scopeSpans: [{ scope: scopeOf(resource), spans }] }] });
}

function exceptionEvent(timeMs: number, { type, message, stack }: NonNullable<SpanEntry['error']>) {
  const fields = { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack || undefined };
  return { name: 'exception', timeUnixNano: nanos(timeMs), attributes: attributesOf(fields) };
}

export interface Gauge {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
}

export function gaugesBody(resource: Resource, gauges: readonly Gauge[], timeMs: number): string {
  const attributes = attributesOf({ 'worker.id': resource.workerId, 'worker.name': resource.serviceName });
  const metrics = gauges.map(({ name, unit, value }) => ({
    name,
    unit,
    gauge: { dataPoints: [{ asDouble: value, timeUnixNano: nanos(timeMs), attributes }] },
  }));
  return JSON.stringify({
    resourceMetrics: [{ ...about(resource), scopeMetrics: [{ scope: scopeOf(resource), metrics }] }],
  });
}

function about({ serviceName, workerId }: Resource) {
  return { resource: { attributes: attributesOf({ 'service.name': serviceName, 'service.instance.id': workerId }) } };
}

function scopeOf({ version }: Resource) {
  return { name: SCOPE_NAME, version };
}

/** As text: numbers of this size are not exact in JSON. The clock has microseconds. */
function nanos(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}

/** Semantic conventions for remote calls. */
export function callFields({ functionId, trigger }: DeliveredCall): Record<string, unknown> {
  return {
    function_id: functionId,
    'rpc.system': 'svc',
    'rpc.method': functionId,
    'trigger.type': trigger?.type,
    'trigger.id': trigger?.id,
  };
}

export function describeFailure(thrown: unknown): { type: string; message: string; stack: string } {
  if (isSvcError(thrown)) return { type: thrown.code, message: thrown.message, stack: thrown.stack ?? '' };
  if (thrown instanceof Error) return { type: thrown.name, message: thrown.message, stack: thrown.stack ?? '' };
  return { type: typeof thrown, message: textOf(thrown), stack: '' };
}
