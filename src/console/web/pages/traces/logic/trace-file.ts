// Reads a trace from a file that was exported here or elsewhere (TRC-19): OTLP JSON or Chrome trace events. Nothing is
// sent. A file that cannot be read is refused with the reason, never shown in part.

import type { Span } from './trace-span.ts';

export class TraceFileProblem extends Error {}

type Json = Readonly<Record<string, unknown>>;

export function readTraceFile(text: string): Span[] {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new TraceFileProblem(`The file is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (Array.isArray(document)) return fromChrome(document);
  const { resourceSpans, traceEvents } = asRecord(document);
  if (Array.isArray(resourceSpans)) return checked(resourceSpans.flatMap(fromResource));
  if (Array.isArray(traceEvents)) return fromChrome(traceEvents);
  throw new TraceFileProblem('The file has neither "resourceSpans" (OTLP JSON) nor "traceEvents" (Chrome trace)');
}

function checked(spans: Span[]): Span[] {
  if (spans.length === 0) throw new TraceFileProblem('The file holds no span');
  const traces = new Set(spans.map((span) => span.trace_id));
  if (traces.size > 1) {
    throw new TraceFileProblem(`The file holds ${traces.size} traces; export one trace to a file to view it`);
  }
  return spans;
}

function fromResource(entry: unknown): Span[] {
  const { resource, scopeSpans } = asRecord(entry);
  const service = new Map(pairsOf(asRecord(resource).attributes)).get('service.name') ?? 'unknown';
  return asList(scopeSpans).flatMap((scopeEntry) => {
    const { scope, spans } = asRecord(scopeEntry);
    const { name, version } = asRecord(scope);
    return asList(spans).map((span) => fromOtlp(asRecord(span), service, name, version));
  });
}

function fromOtlp(span: Json, service: string, scopeName: unknown, scopeVersion: unknown): Span {
  const status = asRecord(span.status);
  const end = nanos(span.endTimeUnixNano);
  return {
    trace_id: textOf(span.traceId),
    span_id: textOf(span.spanId),
    parent_span_id: textOf(span.parentSpanId) || null,
    name: textOf(span.name),
    start_time_unix_nano: nanos(span.startTimeUnixNano),
    end_time_unix_nano: end,
    status: status.code === 2 || status.code === 'STATUS_CODE_ERROR' ? 'error' : status.code === 1 ? 'ok' : 'unset',
    ...(typeof status.message === 'string' && status.message !== '' && { status_description: status.message }),
    attributes: pairsOf(span.attributes),
    service_name: service,
    events: asList(span.events).map((event) => ({
      name: textOf(asRecord(event).name),
      timestamp_unix_nano: nanos(asRecord(event).timeUnixNano),
      attributes: pairsOf(asRecord(event).attributes),
    })),
    links: asList(span.links).map((link) => ({
      trace_id: textOf(asRecord(link).traceId),
      span_id: textOf(asRecord(link).spanId),
      attributes: pairsOf(asRecord(link).attributes),
    })),
    ...(typeof scopeName === 'string' && { instrumentation_scope_name: scopeName }),
    ...(typeof scopeVersion === 'string' && { instrumentation_scope_version: scopeVersion }),
    ...(end === 0 && { pending: true }),
  };
}

/**
 * Complete events (`X`). Files of svc name the parent of each event. In other files, events are nested by time within
 * their thread.
 */
function fromChrome(events: readonly unknown[]): Span[] {
  const processes = new Map<unknown, string>();
  const complete: Json[] = [];
  for (const entry of events) {
    const event = asRecord(entry);
    if (event.ph === 'M' && event.name === 'process_name') processes.set(event.pid, textOf(asRecord(event.args).name));
    if (event.ph === 'X') complete.push(event);
  }
  const byStart = complete
    .map((event, index) => ({ event, index, from: Number(event.ts), to: Number(event.ts) + Number(event.dur ?? 0) }))
    .filter(({ from, to }) => Number.isFinite(from) && Number.isFinite(to))
    .sort((a, b) => a.from - b.from || b.to - a.to);
  const running = new Map<string, { id: string; to: number }[]>();
  const spans = byStart.map(({ event, index, from, to }) => {
    const args = asRecord(event.args);
    const id = textOf(args.span_id) || index.toString(16).padStart(16, '0');
    const thread = `${String(event.pid)} ${String(event.tid)}`;
    const open = (running.get(thread) ?? []).filter((outer) => outer.to >= to);
    const parent = args.span_id === undefined ? (open.at(-1)?.id ?? null) : textOf(args.parent_span_id) || null;
    running.set(thread, [...open, { id, to }]);
    return fromChromeEvent(event, args, { id, parent, from, to, service: processes.get(event.pid) });
  });
  return checked(spans);
}

const NS_PER_US = 1_000;
const CHROME_FIELDS = new Set(['trace_id', 'span_id', 'parent_span_id', 'error']);

function fromChromeEvent(
  event: Json,
  args: Json,
  at: { id: string; parent: string | null; from: number; to: number; service: string | undefined },
): Span {
  const description = textOf(args.error);
  return {
    trace_id: textOf(args.trace_id) || 'file',
    span_id: at.id,
    parent_span_id: at.parent,
    name: textOf(event.name),
    start_time_unix_nano: at.from * NS_PER_US,
    end_time_unix_nano: at.to * NS_PER_US,
    status: event.cat === 'error' ? 'error' : 'unset',
    ...(description !== '' && { status_description: description }),
    attributes: Object.entries(args)
      .filter(([key]) => !CHROME_FIELDS.has(key))
      .map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const),
    service_name: at.service ?? `process ${String(event.pid ?? '')}`.trim(),
    events: [],
    links: [],
  };
}

/** OTLP has a list of keys and typed values. Other tools often write an object; both are read. */
function pairsOf(attributes: unknown): [key: string, value: string][] {
  if (!Array.isArray(attributes))
    return Object.entries(asRecord(attributes)).map(([key, value]) => [key, valueText(value)]);
  return attributes.map((entry) => {
    const { key, value } = asRecord(entry);
    return [textOf(key), valueText(value)];
  });
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const { stringValue, intValue, doubleValue, boolValue } = asRecord(value);
  const plain = stringValue ?? intValue ?? doubleValue ?? boolValue;
  return plain === undefined ? JSON.stringify(value) : String(plain);
}

function nanos(value: unknown): number {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asRecord(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
