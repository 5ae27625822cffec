// Spans as records: rows of the engine's spans become records (modules 11.4), and the parts of every span are bounded
// (guarantees 4). Attributes that are secret by their key are redacted (X22). Runs on the telemetry thread.

import { isSecretKey, isUrlKey, REDACTED, redactUrl } from '../../config-fields/redaction.ts';
import { cutText, TRUNCATED_ATTRIBUTE } from '../logs/log-record.ts';
import type { ServiceIdentity } from '../records/intake.ts';
import type { Attributes, SpanRecord } from '../records/records.ts';
import { baggageEntries, spanIdOf, traceIdOf } from './context.ts';
import { ROW_LENGTH, readRow, SEPARATOR, type SpanRow, STATUS } from './span-rows.ts';

export type Pairs = (readonly [key: string, value: string])[];

const ATTRIBUTES_MAX = 128;
const VALUE_BYTES_MAX = 4 * 1024;
const KEY_BYTES_MAX = 256;
const EVENTS_MAX = 128;
const LINKS_MAX = 128;
const NAME_BYTES_MAX = 512;

/** `cut` is called once when something was left out; an attribute says so too. */
export function boundAttributes(pairs: Attributes, cut: () => void): Attributes {
  if (pairs.length <= ATTRIBUTES_MAX && pairs.every(mayStay)) return pairs;
  let isCut = pairs.length > ATTRIBUTES_MAX;
  const kept = (isCut ? pairs.slice(0, ATTRIBUTES_MAX - 1) : pairs).map(([key, value]) => {
    const shortKey = cutText(key, KEY_BYTES_MAX);
    const shown = shownValue(key, value);
    const short = cutText(shown, VALUE_BYTES_MAX);
    isCut ||= shortKey.length < key.length || short.length < shown.length;
    return [shortKey, short] as const;
  });
  if (!isCut) return kept;
  cut();
  return [...kept.slice(0, ATTRIBUTES_MAX - 1), [TRUNCATED_ATTRIBUTE, 'true']];
}

/** Nearly all spans are within the limits. */
function mayStay([key, value]: Pairs[number]): boolean {
  const isShort = cutText(key, KEY_BYTES_MAX) === key && cutText(value, VALUE_BYTES_MAX) === value;
  return isShort && shownValue(key, value) === value;
}

/** A span of a worker, which may contain anything. */
export function boundSpan(span: SpanRecord, cut: () => void): SpanRecord {
  return isPlain(span) ? span : cutSpan(span, cut);
}

/** Nearly all spans are, and are kept as they were read. */
function isPlain({ name, service_name, attributes, events, links }: SpanRecord): boolean {
  if (events.length + links.length > 0 || attributes.length > ATTRIBUTES_MAX || !attributes.every(mayStay))
    return false;
  return cutText(name, NAME_BYTES_MAX) === name && cutText(service_name, NAME_BYTES_MAX) === service_name;
}

function cutSpan(span: SpanRecord, cut: () => void): SpanRecord {
  let isCut = span.events.length > EVENTS_MAX || span.links.length > LINKS_MAX;
  const note = (): void => {
    isCut = true;
  };
  const bounded = {
    ...span,
    name: cutText(span.name, NAME_BYTES_MAX),
    service_name: cutText(span.service_name, NAME_BYTES_MAX),
    attributes: boundAttributes(span.attributes, note),
    events: span.events.slice(0, EVENTS_MAX).map((event) => ({
      ...event,
      name: cutText(event.name, NAME_BYTES_MAX),
      attributes: boundAttributes(event.attributes, note),
    })),
    links: span.links
      .slice(0, LINKS_MAX)
      .map((link) => ({ ...link, attributes: boundAttributes(link.attributes, note) })),
  };
  if (isCut) cut();
  return bounded;
}

/** Queries contain tokens as often as headers do: parameters are hidden by their names. */
function shownValue(key: string, value: string): string {
  let show = knownKeys.get(key);
  if (show === undefined) {
    show = showingOf(key);
    if (knownKeys.size < KNOWN_KEYS_MAX && key.length <= KNOWN_CHARS_MAX) knownKeys.set(key, show);
  }
  return show(value);
}

type Showing = (value: string) => string;

/** Nearly all keys occur again and again. Workers choose them, so the cache is bounded. */
const knownKeys = new Map<string, Showing>();
const KNOWN_KEYS_MAX = 4_096;
const KNOWN_CHARS_MAX = 64;

function showingOf(key: string): Showing {
  if (isSecretKey(lastPart(key))) return () => REDACTED;
  if (key === 'url.query') return redactQuery;
  if (key === 'url.full') return redactFullUrl;
  return isUrlKey(key) ? redactUrl : asIs;
}

const asIs: Showing = (value) => value;

/** `http.request.header.authorization` is as secret as `authorization`. */
function lastPart(key: string): string {
  return key.slice(key.lastIndexOf('.') + 1);
}

function redactQuery(query: string): string {
  return query
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = equals < 0 ? pair : pair.slice(0, equals);
      return isSecretKey(decodedName(name)) ? `${name}=${REDACTED}` : pair;
    })
    .join('&');
}

function decodedName(name: string): string {
  return new URLSearchParams(`${name}=`).keys().next().value ?? name;
}

function redactFullUrl(url: string): string {
  const start = url.indexOf('?');
  return start < 0 ? url : `${url.slice(0, start + 1)}${redactQuery(url.slice(start + 1))}`;
}

const SCOPE_NAME = 'svc';
const NANOS_PER_MS = 1e6;
const SAMPLED = 1;

/** `cut` is called for each span of which something was left out. */
export function engineSpans(
  rows: readonly (string | number)[],
  service: ServiceIdentity,
  cut: () => void,
): { readonly span: SpanRecord; readonly baggage: string }[] {
  const spans: { span: SpanRecord; baggage: string }[] = [];
  for (let at = 0; at < rows.length; at += ROW_LENGTH) {
    const row = readRow(rows, at);
    spans.push({ span: spanOf(row, service, cut), baggage: row.baggage });
  }
  return spans;
}

/** Shared by all spans without any: each span that is kept costs the garbage collector a visit per object. */
const NONE: readonly never[] = [];

function spanOf(row: SpanRow, { serviceName, engineVersion }: ServiceIdentity, cut: () => void): SpanRecord {
  const isPending = row.endMs === 0;
  const span: SpanRecord = {
    trace_id: row.traceId,
    span_id: row.spanId,
    parent_span_id: row.parentSpanId === '' ? null : row.parentSpanId,
    name: row.name,
    start_time_unix_nano: nanos(row.startMs),
    end_time_unix_nano: isPending ? 0 : nanos(Math.max(row.endMs, row.startMs)),
    status: row.status === STATUS.error ? 'error' : row.status === STATUS.ok ? 'ok' : 'unset',
    attributes: attributesOf(row, cut),
    service_name: serviceName,
    events: NONE,
    links: row.link === '' ? NONE : [{ trace_id: traceIdOf(row.link), span_id: spanIdOf(row.link), attributes: [] }],
    instrumentation_scope_name: SCOPE_NAME,
    instrumentation_scope_version: engineVersion,
    flags: SAMPLED,
  };
  if (isPending) return { ...span, pending: true };
  return row.error === '' ? span : { ...span, ...failureOf(row) };
}

function failureOf({ error, endMs }: SpanRow): Pick<SpanRecord, 'status_description' | 'events'> {
  const [code = '', message = '', stack = ''] = error.split(SEPARATOR);
  return {
    status_description: message === '' ? code : `${code}: ${message}`,
    events: [exceptionEvent(nanos(endMs), code, message, stack)],
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

/** Most calls of a function have the same attributes: they are built once, and all their spans share them. */
function attributesOf(row: SpanRow, cut: () => void): Attributes {
  const known = knownAttributes.get(row.attributes);
  if (known?.functionId === row.functionId && known.baggage === row.baggage) return known.attributes;
  const pairs = pairsOf(row);
  const attributes = boundAttributes(pairs, cut);
  // What was cut is counted with each span.
  if (attributes === pairs && row.attributes.length + row.baggage.length <= KNOWN_ATTRIBUTES_CHARS_MAX) {
    if (knownAttributes.size >= KNOWN_ATTRIBUTES_MAX) knownAttributes.clear();
    knownAttributes.set(row.attributes, { functionId: row.functionId, baggage: row.baggage, attributes });
  }
  return attributes;
}

interface KnownAttributes {
  readonly functionId: string;
  readonly baggage: string;
  readonly attributes: Attributes;
}

/** By the text of a row. Users choose parts of it, so the cache is bounded. */
const knownAttributes = new Map<string, KnownAttributes>();
const KNOWN_ATTRIBUTES_MAX = 1_024;
const KNOWN_ATTRIBUTES_CHARS_MAX = 1_024;

function pairsOf({ functionId, attributes, baggage }: SpanRow): Pairs {
  const pairs: Pairs = functionId === '' ? [] : [['function_id', functionId]];
  const parts = attributes.split(SEPARATOR);
  for (let at = 1; at + 1 < parts.length; at += 2) pairs.push([parts[at] ?? '', parts[at + 1] ?? '']);
  return [...pairs, ...baggageAttributes(baggage)];
}

/** Shown by key like any other field (PD-47). */
export function baggageAttributes(baggage: string): Pairs {
  return baggageEntries(baggage).map(([key, value]) => [`baggage.${key}`, isSecretKey(key) ? REDACTED : value]);
}

function nanos(ms: number): number {
  return Math.round(ms * NANOS_PER_MS);
}
