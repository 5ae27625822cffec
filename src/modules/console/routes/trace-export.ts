// A trace in the formats of other tools (TRC-19): OTLP JSON, and Chrome's trace events.

import type { Attributes, SpanRecord } from '../../../core/telemetry/records/records.ts';

export function toOtlp(spans: readonly SpanRecord[]): unknown {
  const services = new Map<string, SpanRecord[]>();
  for (const span of spans) {
    const own = services.get(span.service_name);
    if (own === undefined) services.set(span.service_name, [span]);
    else own.push(span);
  }
  return {
    resourceSpans: [...services].map(([service, own]) => ({
      resource: { attributes: keyValues([['service.name', service]]) },
      scopeSpans: [{ scope: { name: own[0]?.instrumentation_scope_name ?? 'svc' }, spans: own.map(otlpSpan) }],
    })),
  };
}

const STATUS_CODES = { unset: 0, ok: 1, error: 2 } as const;

function otlpSpan(span: SpanRecord): unknown {
  return {
    traceId: span.trace_id,
    spanId: span.span_id,
    ...(span.parent_span_id !== null && { parentSpanId: span.parent_span_id }),
    name: span.name,
    kind: 1,
    startTimeUnixNano: String(span.start_time_unix_nano),
    endTimeUnixNano: String(span.end_time_unix_nano),
    attributes: keyValues(span.attributes),
    events: span.events.map(({ name, timestamp_unix_nano, attributes }) => ({
      name,
      timeUnixNano: String(timestamp_unix_nano),
      attributes: keyValues(attributes),
    })),
    links: span.links.map(({ trace_id, span_id, attributes }) => ({
      traceId: trace_id,
      spanId: span_id,
      attributes: keyValues(attributes),
    })),
    status: { code: STATUS_CODES[span.status], message: span.status_description ?? '' },
  };
}

function keyValues(attributes: Attributes): unknown[] {
  return attributes.map(([key, value]) => ({ key, value: { stringValue: value } }));
}

/** One row for each service; times in microseconds. */
export function toChrome(spans: readonly SpanRecord[]): unknown {
  const services = [...new Set(spans.map(({ service_name }) => service_name))];
  const names = services.map((name, at) => ({
    name: 'process_name',
    ph: 'M',
    pid: at + 1,
    tid: 0,
    args: { name },
  }));
  const events = spans.map((span) => ({
    name: span.name,
    cat: span.status,
    ph: 'X',
    ts: span.start_time_unix_nano / 1_000,
    dur: Math.max(0, span.end_time_unix_nano - span.start_time_unix_nano) / 1_000,
    pid: services.indexOf(span.service_name) + 1,
    tid: 1,
    args: { trace_id: span.trace_id, span_id: span.span_id, ...Object.fromEntries(span.attributes) },
  }));
  return { traceEvents: [...names, ...events], displayTimeUnit: 'ms' };
}
