// If the program has set up OpenTelemetry, spans of handlers are created there and travel with everything else that the
// program observes (SDK-10). `@opentelemetry/api` is an optional peer dependency: without it nothing is logged.

import { parseBaggage, parseTraceparent, type TraceCarrier } from '../calls/trace-context.ts';
import { callFields, describeFailure } from '../telemetry/otlp-json.ts';
import type { HandlerSpan } from '../telemetry/telemetry.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import type { ContextStorage } from '../worker/platform.ts';

type Api = typeof import('@opentelemetry/api');
type Span = import('@opentelemetry/api').Span;

/** Where the package itself keeps its setup, for all its copies in a process. */
const GLOBAL_KEY = Symbol.for('opentelemetry.js.api.1');
const globals: Readonly<Record<symbol, unknown>> = globalThis;
const TRACER_NAME = 'svc-sdk';

class OpenTelemetry {
  #api: Api | undefined;
  #isLooking = false;

  /** Called when a worker is created: a program that uses OpenTelemetry has set it up by then. */
  lookFor(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    import('@opentelemetry/api').then(
      (api) => {
        this.#api = api;
      },
      () => {},
    );
  }

  /** Undefined if nothing was set up. */
  begin(call: DeliveredCall): HandlerSpan | undefined {
    const api = this.#activeApi();
    const parent = parseTraceparent(call.traceparent);
    if (api === undefined || parent === undefined) return undefined;
    const remote = { traceId: parent.trace_id, spanId: parent.span_id, traceFlags: SAMPLED, isRemote: true };
    const outer = withBaggage(api, api.trace.setSpanContext(api.ROOT_CONTEXT, remote), call.baggage);
    const attributes = definedOnly(callFields(call));
    const options = { kind: api.SpanKind.SERVER, attributes };
    const span = api.trace.getTracer(TRACER_NAME).startSpan(`execute ${call.functionId}`, options, outer);
    const inner = api.trace.setSpan(outer, span);
    return {
      carrier: {
        traceparent: headerOf(span),
        baggage: call.baggage,
        depth: call.depth,
        functionId: call.functionId,
      },
      run: (task) => api.context.with(inner, task),
      end: (failure) => {
        if (failure !== undefined) noteFailure(api, span, failure.thrown);
        span.end();
      },
    };
  }

  /** Calls made within a span of the program become its children, with the baggage of its context. */
  around(own: ContextStorage<TraceCarrier>): ContextStorage<TraceCarrier> {
    return {
      run: (value, run, first, second) => own.run(value, run, first, second),
      current: () => this.#current(own.current()),
    };
  }

  #current(carrier: TraceCarrier | undefined): TraceCarrier | undefined {
    const api = this.#activeApi();
    const span = api?.trace.getActiveSpan();
    if (api === undefined || span === undefined || !api.isSpanContextValid(span.spanContext())) return carrier;
    return {
      traceparent: headerOf(span),
      baggage: mergedBaggage(api, carrier?.baggage),
      depth: carrier?.depth,
      functionId: carrier?.functionId,
    };
  }

  #activeApi(): Api | undefined {
    // Read for each call: V8 reads an index several times as fast as `Reflect.get`.
    const shared = globals[GLOBAL_KEY];
    return typeof shared === 'object' && shared !== null && 'trace' in shared ? this.#api : undefined;
  }
}

/** One per process, like the setup of the program. */
export const openTelemetry = new OpenTelemetry();

const SAMPLED = 1;

function headerOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function noteFailure(api: Api, span: Span, thrown: unknown): void {
  const { type, message, stack } = describeFailure(thrown);
  span.recordException({ name: type, message, stack });
  span.setStatus({ code: api.SpanStatusCode.ERROR, message });
}

function withBaggage(api: Api, context: ReturnType<Api['context']['active']>, header: string | undefined) {
  if (header === undefined) return context;
  const entries = [...parseBaggage(header)].map(([key, value]) => [key, { value }] as const);
  return api.propagation.setBaggage(context, api.propagation.createBaggage(Object.fromEntries(entries)));
}

/** The baggage of the program overrides the baggage of the call. */
function mergedBaggage(api: Api, header: string | undefined): string | undefined {
  const set = api.propagation.getActiveBaggage()?.getAllEntries() ?? [];
  if (set.length === 0) return header;
  const entries = new Map(parseBaggage(header));
  for (const [key, { value }] of set) entries.set(key, value);
  return [...entries].map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join(',');
}

function definedOnly(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(fields)) if (typeof value === 'string') kept[key] = value;
  return kept;
}
