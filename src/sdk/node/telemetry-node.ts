// Collects a worker's logs and spans and sends them on its own connection, in frames of OTLP/JSON (wire 1.11).
//
// - Nothing here throws into a handler or waits for anything. What does not fit is dropped, newest first, and the next
//   record that fits says how many were dropped.
// - While there is no connection records wait, up to a limit; they leave on the next one.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { randomHex } from '../../protocol/json/node-bytes.ts';
import { isRecord } from '../../protocol/json/record.ts';
import { parseBaggage, parseTraceparent, type TraceCarrier } from '../calls/trace-context.ts';
import type { Link } from '../connection/link.ts';
import {
  attributesOf,
  callFields,
  describeFailure,
  type Gauge,
  gaugesBody,
  type LogEntry,
  logsBody,
  type OtlpAttribute,
  type Resource,
  type SpanEntry,
  spansBody,
  textOf,
} from '../telemetry/otlp-json.ts';
import type { HandlerSpan, LoggerLevel, LogScope, TelemetryOptions, WorkerTelemetry } from '../telemetry/telemetry.ts';
import type { DeliveredCall } from '../wire/wire.ts';
import { SDK_VERSION } from '../worker/announcement.ts';
import { OncePerMinute } from '../worker/once-per-minute.ts';
import { HEADROOM_BYTES, type PlatformClock } from '../worker/platform.ts';
import { openTelemetry } from './opentelemetry-node.ts';

const NO_SCOPE: LogScope = {};
const FLUSH_MS = 100;
const LOGS_MAX = 4_096;
const SPANS_MAX = 2_048;
/** A third of what the port for browsers accepts in one frame: a character may take three bytes. */
const FRAME_CHARS_MAX = 300 * 1024;
const GAUGES_FIRST_MS = 1_000;
const GAUGES_MS = 15_000;
const PREFIX_BYTES = 4;
const TRACE_BYTES = 16;
const SPAN_BYTES = 8;
/** Number of functions whose attributes are built once. */
const KNOWN_FUNCTIONS_MAX = 1_024;

export class NodeTelemetry implements WorkerTelemetry {
  readonly #options: TelemetryOptions;
  #logs: LogEntry[] = [];
  #spans: SpanEntry[] = [];
  #dropped = 0;
  readonly #droppedSpans: OncePerMinute;
  readonly #callAttributes = new Map<string, readonly OtlpAttribute[]>();
  #cancelFlush: (() => void) | undefined;
  #cancelGauges: (() => void) | undefined;
  #gauges: ProcessGauges | undefined;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#droppedSpans = new OncePerMinute(options.clock);
    openTelemetry.lookFor();
    // A short-lived caller is not listed as a worker and has no gauges.
    options.worker.on('connected', () => this.#planIfAny());
    options.worker.on('reconnected', () => this.#planIfAny());
    if (!options.settings.announces) return;
    for (const event of ['connected', 'reconnected'] as const) {
      options.worker.on(event, () => this.#planGauges(GAUGES_FIRST_MS));
    }
    options.worker.on('disconnected', () => this.#stopGauges());
  }

  readonly log = (level: LoggerLevel, message: string, data: unknown, scope: LogScope = NO_SCOPE): void => {
    if (this.#logs.length >= LOGS_MAX) {
      this.#dropped++;
      return;
    }
    this.#logs.push({
      level,
      message: textOf(message),
      timeMs: this.#options.clock.wallMs(),
      attributes: this.#attributes(data, scope),
      ids: parseTraceparent(scope.traceparent),
    });
    this.#plan();
  };

  begin(call: DeliveredCall): HandlerSpan | undefined {
    if (call.isUntraced === true) return new UntracedRun(call);
    const { traceparent } = call;
    if (traceparent === undefined || !isSampled(traceparent)) return undefined;
    const foreign = openTelemetry.begin(call);
    if (foreign !== undefined) return foreign;
    const parent = parseTraceparent(traceparent);
    if (parent === undefined) return undefined;
    return new KeptRun(call, parent, this.#attributesOfCall(call), this.#options.clock, this.#ended);
  }

  end(): void {
    this.#send();
    this.#cancelFlush?.();
    this.#stopGauges();
  }

  readonly #ended = (span: SpanEntry): void => {
    if (this.#spans.length >= SPANS_MAX) return this.#noteDroppedSpan();
    this.#spans.push(span);
    this.#plan();
  };

  #noteDroppedSpan(): void {
    this.#droppedSpans.write((more) => {
      const others = more > 0 ? ` (and ${more} others)` : '';
      this.#options.settings.log('warn', `dropped a span of a handler${others}: more ended than are sent at once`);
    });
  }

  /** Most calls of a function have the same attributes: they are built once, for a limited number of functions. */
  #attributesOfCall(call: DeliveredCall): readonly OtlpAttribute[] {
    if (call.trigger !== undefined) return attributesOf(callFields(call));
    let attributes = this.#callAttributes.get(call.functionId);
    if (attributes === undefined) {
      attributes = attributesOf(callFields(call));
      if (this.#callAttributes.size < KNOWN_FUNCTIONS_MAX) this.#callAttributes.set(call.functionId, attributes);
    }
    return attributes;
  }

  #attributes(data: unknown, { functionId, baggage }: LogScope): OtlpAttribute[] {
    const job = baggage === undefined ? undefined : parseBaggage(baggage).get(JOB_ENTRY);
    const writer = { function_id: functionId, 'svc.worker': this.#options.settings.name, [JOB_ENTRY]: job };
    try {
      const fields = isRecord(data) && !(data instanceof Error) ? data : { data };
      return attributesOf({ ...fields, ...writer });
    } catch {
      // A getter of the user's object threw: keep the message.
      return attributesOf(writer);
    }
  }

  #plan(): void {
    this.#cancelFlush ??= this.#options.clock.after(FLUSH_MS, () => {
      this.#cancelFlush = undefined;
      this.#send();
    });
  }

  #planIfAny(): void {
    if (this.#logs.length + this.#spans.length > 0) this.#plan();
  }

  #send(): void {
    const link = this.#options.link();
    if (link === undefined) return;
    if (link.isCongested()) return this.#plan();
    const resource = this.#resource(link);
    if (this.#dropped > 0) this.#sayDropped();
    const logs = this.#logs;
    const spans = this.#spans;
    this.#logs = [];
    this.#spans = [];
    sendAll(link, 'LOGS', logs, (entries) => logsBody(resource, entries));
    sendAll(link, 'OTLP', spans, (entries) => spansBody(resource, entries));
  }

  #sayDropped(): void {
    const message = `${this.#dropped} log records were dropped: more came than could be sent`;
    this.#dropped = 0;
    this.#logs.push({ level: 'warn', message, timeMs: this.#options.clock.wallMs(), attributes: [], ids: undefined });
  }

  #planGauges(delayMs: number): void {
    const { clock } = this.#options;
    this.#gauges ??= watchProcess(clock.monotonicMs());
    this.#cancelGauges = clock.after(delayMs, () => {
      const link = this.#options.link();
      const gauges = this.#gauges?.read(clock.monotonicMs()) ?? [];
      if (link !== undefined) sendFrame(link, 'MTRC', gaugesBody(this.#resource(link), gauges, clock.wallMs()));
      this.#planGauges(GAUGES_MS);
    });
  }

  #stopGauges(): void {
    this.#cancelGauges?.();
    this.#gauges?.stop();
    this.#gauges = undefined;
  }

  #resource({ workerId }: Link): Resource {
    return { serviceName: this.#options.settings.name, workerId, version: SDK_VERSION };
  }
}

/** A run whose trace is kept. It does not keep the call, which may be large. */
class KeptRun implements HandlerSpan, TraceCarrier, SpanEntry {
  readonly baggage: string | undefined;
  readonly depth: number | undefined;
  readonly functionId: string;
  readonly traceId: string;
  readonly spanId = randomHex(SPAN_BYTES);
  readonly parentSpanId: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly startMs: number;
  endMs = 0;
  error: SpanEntry['error'] = undefined;
  readonly #clock: PlatformClock;
  readonly #startedMs: number;
  #onEnd: ((span: SpanEntry) => void) | undefined;

  constructor(
    { baggage, depth, functionId }: DeliveredCall,
    parent: { readonly trace_id: string; readonly span_id: string },
    attributes: readonly OtlpAttribute[],
    clock: PlatformClock,
    onEnd: (span: SpanEntry) => void,
  ) {
    this.baggage = baggage;
    this.depth = depth;
    this.functionId = functionId;
    this.traceId = parent.trace_id;
    this.parentSpanId = parent.span_id;
    this.attributes = attributes;
    this.startMs = clock.wallMs();
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
    this.#onEnd = onEnd;
  }

  get carrier(): TraceCarrier {
    return this;
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  get name(): string {
    return `execute ${this.functionId}`;
  }

  end(failure?: { readonly thrown: unknown }): void {
    const onEnd = this.#onEnd;
    if (onEnd === undefined) return;
    this.#onEnd = undefined;
    this.endMs = this.startMs + this.#clock.monotonicMs() - this.#startedMs;
    this.error = failure && describeFailure(failure.thrown);
    onEnd(this);
  }
}

/** A run whose trace is not kept. It still gets ids when they are read, so that its logs can be found by them. */
class UntracedRun implements HandlerSpan, TraceCarrier {
  readonly baggage: string | undefined;
  readonly depth: number | undefined;
  readonly functionId: string;
  #traceparent: string | undefined;

  constructor({ baggage, depth, functionId }: DeliveredCall) {
    this.baggage = baggage;
    this.depth = depth;
    this.functionId = functionId;
  }

  get carrier(): TraceCarrier {
    return this;
  }

  get traceparent(): string {
    this.#traceparent ??= `00-${randomHex(TRACE_BYTES)}-${randomHex(SPAN_BYTES)}-00`;
    return this.#traceparent;
  }

  end(): void {
    // There is no span to end.
  }
}

/** Sends in frames that any port of an engine accepts. */
function sendAll<Entry>(
  link: Link,
  prefix: Prefix,
  entries: readonly Entry[],
  bodyOf: (entries: readonly Entry[]) => string,
): void {
  if (entries.length === 0) return;
  const body = bodyOf(entries);
  if (body.length <= FRAME_CHARS_MAX || entries.length === 1) return sendFrame(link, prefix, body);
  const middle = entries.length >> 1;
  sendAll(link, prefix, entries.slice(0, middle), bodyOf);
  sendAll(link, prefix, entries.slice(middle), bodyOf);
}

type Prefix = 'LOGS' | 'OTLP' | 'MTRC';

function sendFrame(link: Link, prefix: Prefix, body: string): void {
  const start = HEADROOM_BYTES + PREFIX_BYTES;
  const memory = Buffer.allocUnsafeSlow(start + Buffer.byteLength(body));
  memory.write(prefix, HEADROOM_BYTES, 'latin1');
  memory.write(body, start, 'utf8');
  link.sendTelemetry(memory);
}

/** Tests the lowest bit of the flags. */
function isSampled(traceparent: string): boolean {
  return (Number.parseInt(traceparent.slice(53, 55), 16) & 1) === 1;
}

/** Set by the engine: the receipt of the job that runs, or that made this call. */
const JOB_ENTRY = 'svc.job.id';

/** Interval between measurements of the event loop. */
const LAG_STEP_MS = 20;
const NANOS_PER_MS = 1e6;

/** Measures the process of the worker, under the names that the engine expects (wire 6.3). */
interface ProcessGauges {
  /** The values since the last reading. */
  read(nowMs: number): Gauge[];
  stop(): void;
}

function watchProcess(nowMs: number): ProcessGauges {
  const delay = monitorEventLoopDelay({ resolution: LAG_STEP_MS });
  delay.enable();
  let cpu = process.cpuUsage();
  let readMs = nowMs;
  return {
    read(atMs) {
      const spent = process.cpuUsage(cpu);
      const elapsedMs = Math.max(1, atMs - readMs);
      cpu = process.cpuUsage();
      readMs = atMs;
      const lagMs = delay.count === 0 ? 0 : Math.max(0, delay.percentile(99) / NANOS_PER_MS - LAG_STEP_MS);
      delay.reset();
      const { heapUsed, heapTotal, rss, external } = process.memoryUsage();
      return [
        bytes('heap_used', heapUsed),
        bytes('heap_total', heapTotal),
        bytes('rss', rss),
        bytes('external', external),
        { name: 'svc.worker.cpu.percent', unit: '%', value: (spent.user + spent.system) / 10 / elapsedMs },
        { name: 'svc.worker.cpu.user_micros', unit: 'us', value: cpu.user },
        { name: 'svc.worker.cpu.system_micros', unit: 'us', value: cpu.system },
        { name: 'svc.worker.event_loop.lag_ms', unit: 'ms', value: lagMs },
        { name: 'svc.worker.uptime_seconds', unit: 's', value: process.uptime() },
      ];
    },
    stop: () => delay.disable(),
  };
}

function bytes(name: string, value: number): Gauge {
  return { name: `svc.worker.memory.${name}`, unit: 'By', value };
}
