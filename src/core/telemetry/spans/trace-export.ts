// A trace as a file for other tools (TRC-19): OTLP JSON, which collectors and trace viewers read, and the trace event
// format of Chrome, which Perfetto and chrome://tracing open.

import type { Attributes, SpanRecord } from '../records/records.ts';

const STATUS_CODES = { unset: 0, ok: 1, error: 2 } as const;
/** Internal: the engine's records have no kind. */
const KIND_INTERNAL = 1;

/** An `ExportTraceServiceRequest` in the JSON form of OTLP: ids in hex, 64-bit numbers as text. */
export function toOtlpJson(spans: readonly SpanRecord[]): unknown {
  const services = groupBy(spans, ({ service_name: service }) => service);
  return {
    resourceSpans: [...services].map(([service, ofService]) => ({
      resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
      scopeSpans: [...groupBy(ofService, scopeKey).values()].map((ofScope) => ({
        scope: {
          name: ofScope[0]?.instrumentation_scope_name ?? '',
          version: ofScope[0]?.instrumentation_scope_version ?? '',
        },
        spans: ofScope.map(otlpSpan),
      })),
    })),
  };
}

/** Complete events (`ph: X`) with one process for each service; overlapping spans get rows of their own. */
export function toChromeTrace(spans: readonly SpanRecord[], nowNano: number): unknown {
  const services = [...new Set(spans.map(({ service_name: service }) => service))].sort();
  const names = services.map((service, index) => ({
    name: 'process_name',
    ph: 'M',
    pid: index + 1,
    tid: 0,
    args: { name: service },
  }));
  const events = services.flatMap((service, index) => {
    const own = spans.filter(({ service_name: name }) => name === service);
    return placeInLanes(own, nowNano).map(({ span, lane, endNano }) => ({
      name: span.name,
      cat: span.status === 'error' ? 'error' : 'span',
      ph: 'X',
      ts: Math.round(span.start_time_unix_nano / 1_000),
      dur: Math.round((endNano - span.start_time_unix_nano) / 1_000),
      pid: index + 1,
      tid: lane + 1,
      args: {
        ...Object.fromEntries(span.attributes),
        trace_id: span.trace_id,
        span_id: span.span_id,
        ...(span.parent_span_id !== null && { parent_span_id: span.parent_span_id }),
        ...(span.status_description !== undefined && { error: span.status_description }),
      },
    }));
  });
  return { displayTimeUnit: 'ms', traceEvents: [...names, ...events] };
}

function otlpSpan(span: SpanRecord): unknown {
  return {
    traceId: span.trace_id,
    spanId: span.span_id,
    ...(span.parent_span_id !== null && { parentSpanId: span.parent_span_id }),
    ...(span.trace_state !== undefined && { traceState: span.trace_state }),
    ...(span.flags !== undefined && { flags: span.flags }),
    name: span.name,
    kind: KIND_INTERNAL,
    startTimeUnixNano: nanoText(span.start_time_unix_nano),
    endTimeUnixNano: nanoText(span.end_time_unix_nano),
    attributes: keyValues(span.attributes),
    events: span.events.map((event) => ({
      name: event.name,
      timeUnixNano: nanoText(event.timestamp_unix_nano),
      attributes: keyValues(event.attributes),
    })),
    links: span.links.map((link) => ({
      traceId: link.trace_id,
      spanId: link.span_id,
      ...(link.trace_state !== undefined && { traceState: link.trace_state }),
      attributes: keyValues(link.attributes),
    })),
    status: {
      code: STATUS_CODES[span.status],
      ...(span.status_description !== undefined && { message: span.status_description }),
    },
  };
}

function keyValues(attributes: Attributes): unknown {
  return attributes.map(([key, value]) => ({ key, value: { stringValue: value } }));
}

/** All digits: current nanoseconds have nineteen, and a number prints with an exponent from 1e21 on. */
function nanoText(nano: number): string {
  return BigInt(Math.round(nano)).toString();
}

/**
 * Events on one row of the Chrome format must nest or follow each other. Each span takes the first row where it does:
 * the rows hold the ends of the events that are still open, innermost last.
 */
function placeInLanes(spans: readonly SpanRecord[], nowNano: number) {
  const lanes: number[][] = [];
  return spans
    .map((span) => ({ span, endNano: span.pending === true ? nowNano : span.end_time_unix_nano }))
    .sort((a, b) => a.span.start_time_unix_nano - b.span.start_time_unix_nano || b.endNano - a.endNano)
    .map(({ span, endNano }) => {
      let lane = lanes.findIndex((open) => fits(open, span.start_time_unix_nano, endNano));
      if (lane === -1) lane = lanes.push([]) - 1;
      lanes[lane]?.push(endNano);
      return { span, endNano, lane };
    });
}

function fits(open: number[], startNano: number, endNano: number): boolean {
  for (let last = open.at(-1); last !== undefined && last <= startNano; last = open.at(-1)) open.pop();
  const innermost = open.at(-1);
  return innermost === undefined || endNano <= innermost;
}

function groupBy(spans: readonly SpanRecord[], keyOf: (span: SpanRecord) => string): Map<string, SpanRecord[]> {
  const groups = new Map<string, SpanRecord[]>();
  for (const span of spans) {
    const key = keyOf(span);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [span]);
    else group.push(span);
  }
  return groups;
}

function scopeKey({ instrumentation_scope_name: name, instrumentation_scope_version: version }: SpanRecord): string {
  return `${name ?? ''}@${version ?? ''}`;
}
