// Turns rows of the engine's spans into records (modules 11.4). Runs on the telemetry thread.

import { isSecretKey, REDACTED } from '../../config-fields/redaction.ts';
import type { ServiceFacts } from '../records/intake.ts';
import type { SpanRecord } from '../records/records.ts';
import { spanIdOf, traceIdOf } from './context.ts';
import { boundAttributes, type Pairs } from './span-bounds.ts';
import { ROW_LENGTH, readRow, SEPARATOR, type SpanRow, STATUS } from './span-rows.ts';

const SCOPE_NAME = 'svc';
const NANOS_PER_MS = 1e6;
const SAMPLED = 1;

/** `cut` is called for each span of which something was left out. */
export function engineSpans(rows: readonly (string | number)[], facts: ServiceFacts, cut: () => void): SpanRecord[] {
  const spans: SpanRecord[] = [];
  for (let at = 0; at < rows.length; at += ROW_LENGTH) spans.push(spanOf(readRow(rows, at), facts, cut));
  return spans;
}

function spanOf(row: SpanRow, { serviceName, engineVersion }: ServiceFacts, cut: () => void): SpanRecord {
  const isPending = row.endMs === 0;
  const [code = '', message = '', stack = ''] = row.error === '' ? [] : row.error.split(SEPARATOR);
  return {
    trace_id: row.traceId,
    span_id: row.spanId,
    parent_span_id: row.parentSpanId === '' ? null : row.parentSpanId,
    name: row.name,
    start_time_unix_nano: nanos(row.startMs),
    end_time_unix_nano: isPending ? 0 : nanos(Math.max(row.endMs, row.startMs)),
    status: row.status === STATUS.error ? 'error' : row.status === STATUS.ok ? 'ok' : 'unset',
    ...(row.error !== '' && { status_description: message === '' ? code : `${code}: ${message}` }),
    attributes: boundAttributes(attributesOf(row), cut),
    service_name: serviceName,
    events: row.error === '' ? [] : [exceptionEvent(nanos(row.endMs), code, message, stack)],
    links: row.link === '' ? [] : [{ trace_id: traceIdOf(row.link), span_id: spanIdOf(row.link), attributes: [] }],
    instrumentation_scope_name: SCOPE_NAME,
    instrumentation_scope_version: engineVersion,
    flags: SAMPLED,
    ...(isPending && { pending: true }),
  };
}

export function exceptionEvent(timeNanos: number, code: string, message: string, stack: string) {
  const attributes: Pairs = [
    ['exception.type', code],
    ['exception.message', message],
  ];
  if (stack !== '') attributes.push(['exception.stacktrace', stack]);
  return { name: 'exception', timestamp_unix_nano: timeNanos, attributes };
}

function attributesOf({ functionId, attributes, baggage }: SpanRow): Pairs {
  const pairs: Pairs = functionId === '' ? [] : [['function_id', functionId]];
  const parts = attributes.split(SEPARATOR);
  for (let at = 1; at + 1 < parts.length; at += 2) pairs.push([parts[at] ?? '', parts[at + 1] ?? '']);
  return [...pairs, ...baggageAttributes(baggage)];
}

/** The engine's own entries mean nothing to users. */
const OWN_ENTRIES: ReadonlySet<string> = new Set(['svc.depth', 'svc.function.id', 'iii.function.id']);
const ENTRIES_MAX = 64;

/** Shown by key like any other field (PD-47). */
export function baggageAttributes(baggage: string): Pairs {
  if (baggage === '') return [];
  const pairs: Pairs = [];
  for (const member of baggage.split(',', ENTRIES_MAX)) {
    const [entry = ''] = member.split(';', 1);
    const equals = entry.indexOf('=');
    const key = entry.slice(0, Math.max(equals, 0)).trim();
    if (key === '' || OWN_ENTRIES.has(key)) continue;
    pairs.push([`baggage.${key}`, isSecretKey(key) ? REDACTED : decoded(entry.slice(equals + 1).trim())]);
  }
  return pairs;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // A stray percent sign is literal text.
    return value;
  }
}

function nanos(ms: number): number {
  return Math.round(ms * NANOS_PER_MS);
}
