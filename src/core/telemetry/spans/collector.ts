// Gathers events on the router's thread, and passes them on in batches.
//
// Neighbours: `router/session/observe.ts` reports calls, modules report requests, jobs and logs; `intake.ts` shows the
// way of the data.
// What always holds:
//   - A call that is not sampled costs a read of the call's context and a few additions: no object is created for it.
//   - All gathered data is bounded. What is over a bound is dropped, newest first, and counted (O1).
//   - Nothing here throws or waits, and no timer runs while nothing was gathered.

import { detach } from '../../../protocol/json/byte-string.ts';
import { steadyTime } from '../../../protocol/steady-time.ts';
import { CallStats } from '../metrics/call-stats.ts';
import type { EmittedPrefix } from '../metrics/metric-names.ts';
import { PayloadCapture } from '../payloads/payload-capture.ts';
import { keepsNoPayloads, type PayloadSettings } from '../payloads/payload-rules.ts';
import type { SourceGauges, TelemetryFrame, TelemetryKind, TelemetrySink, WorkerGauges } from '../records/intake.ts';
import type { LogRecord } from '../records/records.ts';
import { isSampled, isTraceparent, spanIdOf, traceIdOf, UNTRACED } from './context.ts';
import { isWithin, placeOf, Sampler, type SamplingSettings, traceIdAt } from './sampling.ts';
import { OpenSpan, SpanBuffer, STATUS } from './span-rows.ts';

/** What the collector needs of its environment. */
export interface CollectorContext {
  readonly nowMs: () => number;
  monotonicMs(): number;
  after(delayMs: number, task: () => void): () => void;
  /** 32 random hexadecimal digits. */
  token(): string;
  /** A random number from 0 to below 1. */
  readonly fraction: () => number;
  /** The engine is under pressure: hardly any trace is kept (L1). */
  isPressed(): boolean;
  /** Data was dropped, for that reason. */
  dropped(kind: 'spans' | 'logs' | 'metrics' | 'payloads', reason: string, times?: number): void;
}

export interface CollectorSettings {
  readonly serviceName: string;
  /** What the names of the engine's own attributes begin with, where drop-in mode renames them. */
  readonly prefix: EmittedPrefix;
  /** Absent: no spans, and spans of workers are dropped. */
  readonly sampling: SamplingSettings | undefined;
  /** How many of the newest spans are read or sent on: in a larger batch, the others are not needed. */
  readonly spansKept: number;
  readonly hasLogs: boolean;
  /** 0 to 1. */
  readonly logsRatio: number;
  readonly hasMetrics: boolean;
  /** Absent: spans are not kept here, and nothing else is. */
  readonly payloads: PayloadSettings | undefined;
}

/** How long gathered data waits for more. A person may follow the log, or a trigger may wait for it. */
const LOGS_MS = 50;
/** A question flushes first, so it sees everything at once, and the thread need not be woken often. */
const FLUSH_MS = 250;
/** Counts grow as numbers, so they can wait longer than lists, which grow by item. */
const COUNTS_MS = 1_000;
const SPANS_PER_BATCH = 1_024;
/** Begun and not reported yet. */
const SPANS_MAX = 8_192;
const LOGS_MAX = 4_096;
/** While the telemetry thread accepts nothing, connections may come and go. */
const GONE_MAX = 65_536;
const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/** The approximate memory of a frame in addition to its bytes: empty ones must be bounded too. */
const FRAME_OWN_BYTES = 256;
const PRESSED_RATE = 0.01;

/** A string is the context of a trace that is not kept, only passed on. Undefined: the context stays as it is. */
export type Begun = OpenSpan | string | undefined;

export class Collector {
  settings: CollectorSettings;
  sampler: Sampler | undefined;
  /** Of the calls with a span; absent where nothing of them is kept. */
  payloads: PayloadCapture | undefined;
  readonly #context: CollectorContext;
  readonly #sink: TelemetrySink;
  readonly #stats = new CallStats();
  readonly #jobs = new CallStats();
  readonly #spans: SpanBuffer;
  /** Begun since the last batch and not ended: reported as pending with the next one. */
  #begun: OpenSpan[] = [];
  #logs: LogRecord[] = [];
  #frames: TelemetryFrame[] = [];
  #frameBytes = 0;
  #gone: number[] = [];
  /** Only of open connections. */
  readonly #gauges = new Map<number, WorkerGauges>();
  #lastSource = 0;
  #spawns = 0;
  #deaths = 0;
  readonly #steadyMs: () => number;
  #epochMs: number;
  #countedMs: number;
  #cancelFlush: (() => void) | undefined;
  #flushDelayMs = 0;

  constructor(settings: CollectorSettings, context: CollectorContext, sink: TelemetrySink) {
    this.settings = settings;
    this.sampler = settings.sampling && new Sampler(settings.sampling);
    this.#spans = new SpanBuffer(settings.spansKept);
    this.#context = context;
    this.#sink = sink;
    this.#countedMs = context.monotonicMs();
    this.#steadyMs = steadyTime(context.nowMs, () => context.monotonicMs());
    this.#epochMs = this.#steadyMs() - this.#countedMs;
    this.#adoptPayloads(settings.payloads);
  }

  /** Changes the sampling rules, from the next trace on. */
  adopt(settings: CollectorSettings): void {
    this.settings = settings;
    this.sampler = settings.sampling && new Sampler(settings.sampling);
    this.#spans.spansKept = settings.spansKept;
    this.#adoptPayloads(settings.payloads);
  }

  #adoptPayloads(settings: PayloadSettings | undefined): void {
    if (settings === undefined) this.payloads = undefined;
    else if (this.payloads !== undefined) this.payloads.adopt(settings);
    else if (!keepsNoPayloads(settings)) {
      this.payloads = new PayloadCapture(settings, () => this.#context.dropped('payloads', 'buffer_full'));
    }
  }

  /**
   * Something begins. Sampling rules see `operation` and `service` (the worker that called; empty for the engine);
   * `prefix` + `operation` is the span's name.
   */
  begin(
    prefix: string,
    operation: string,
    functionId: string,
    service: string,
    traceparent: string | undefined,
    baggage: string | undefined,
  ): Begun {
    const { sampler } = this;
    if (sampler === undefined) return undefined;
    // The cheapest check first: at a ratio of 0 it is the whole cost of an unsampled call.
    if (sampler.isNever && (traceparent === undefined || !isSampled(traceparent))) return undefined;
    if (!isTraceparent(traceparent)) {
      if (sampler.isNever) return undefined;
      const traceId = this.#context.token();
      if (!this.#decide(sampler, placeOf(traceId), operation, service)) return `00-${traceId}-${traceId.slice(16)}-00`;
      return this.#open(prefix + operation, functionId, traceId, '', baggage);
    }
    if (sampler.settings.isParentBased && !isSampled(traceparent)) return undefined;
    // A substring would keep the whole frame in memory while the call runs.
    const parent = detach(traceparent);
    const traceId = traceIdOf(parent);
    if (!sampler.settings.isParentBased && !this.#decide(sampler, placeOf(traceId), operation, service)) {
      return undefined;
    }
    return this.#open(prefix + operation, functionId, traceId, spanIdOf(parent), baggage);
  }

  /** The same for a caller that can mark a trace as not kept without an id: then it is `UNTRACED`. */
  beginOrUntraced(
    prefix: string,
    operation: string,
    functionId: string,
    service: string,
    traceparent: string | undefined,
    baggage: string | undefined,
  ): Begun {
    const { sampler } = this;
    if (sampler === undefined || sampler.isNever || isTraceparent(traceparent)) {
      return this.begin(prefix, operation, functionId, service, traceparent, baggage);
    }
    if (sampler.skips(this.#context.fraction)) return UNTRACED;
    const fraction = sampler.placeOfNext(this.#context.fraction());
    if (!this.#decide(sampler, fraction, operation, service)) return UNTRACED;
    return this.#open(prefix + operation, functionId, traceIdAt(fraction, this.#context.token()), '', baggage);
  }

  /** The same where a trace begins whose id was chosen before: decided like any other, whatever its context says. */
  beginRoot(prefix: string, operation: string, functionId: string, traceId: string): Begun {
    const { sampler } = this;
    if (sampler === undefined || !this.#decide(sampler, placeOf(traceId), operation, '')) return undefined;
    return this.#open(prefix + operation, functionId, traceId, '', undefined);
  }

  #decide(sampler: Sampler, fraction: number, operation: string, service: string): boolean {
    if (fraction >= PRESSED_RATE && this.#context.isPressed()) return false;
    return sampler.decide(fraction, operation, service || this.settings.serviceName, this.#context.nowMs);
  }

  #open(name: string, functionId: string, traceId: string, parentId: string, baggage: string | undefined): OpenSpan {
    const kept = baggage === undefined ? '' : detach(baggage);
    const spanId = this.#context.token().slice(16);
    const span = new OpenSpan(traceId, spanId, parentId, name, functionId, kept, this.#context.monotonicMs());
    if (this.#begun.length < SPANS_MAX) span.place = this.#begun.push(span) - 1;
    this.#planFlush();
    return span;
  }

  /** Spans that have ended are forgotten at once: what lives until the next batch costs the garbage collector more. */
  #forgetBegun(span: OpenSpan): void {
    const last = this.#begun[this.#begun.length - 1];
    if (span.place < 0 || last === undefined) return;
    this.#begun[span.place] = last;
    last.place = span.place;
    this.#begun.pop();
    span.place = -1;
  }

  /** Ends it as successful, or as an error when there is a `code`. Later ends of the same span have no effect. */
  end(span: OpenSpan, code?: string, message = '', stack = ''): void {
    this.endAt(span, this.#context.monotonicMs(), code, message, stack);
  }

  /** The same for a caller that has read the clock already. */
  endAt(span: OpenSpan, nowMs: number, code?: string, message = '', stack = ''): void {
    if (span.hasEnded) return;
    span.endedMs = nowMs;
    this.#forgetBegun(span);
    if (span.status === STATUS.unset) span.status = code === undefined ? STATUS.ok : STATUS.error;
    if (code !== undefined) span.error = errorText(code, message, stack);
    if (!this.#spans.add(span, this.#epochMs)) return this.#context.dropped('spans', 'buffer_full');
    if (this.#spans.count >= SPANS_PER_BATCH) this.#flushSoon();
    else this.#planFlush();
  }

  /**
   * A call has ended. `functionId` is kept, so it must not be a substring of a large text. `code` undefined: success.
   */
  callEnded(functionId: string, durationMs: number, code: string | undefined): void {
    if (!this.settings.hasMetrics) return;
    this.#stats.ended(functionId, durationMs, code);
    this.#planFlush();
  }

  /** A fire-and-forget call was accepted, or a job. */
  callDeferred(functionId: string): void {
    if (!this.settings.hasMetrics) return;
    this.#stats.deferred(functionId);
    this.#planFlush();
  }

  /** A queue has taken a job durably. */
  jobEnqueued(queue: string): void {
    if (!this.settings.hasMetrics) return;
    this.#jobs.deferred(queue);
    this.#planFlush();
  }

  /** An attempt of a job has ended. `outcome` undefined: it succeeded. */
  attemptEnded(queue: string, durationMs: number, outcome: 'retry' | 'dead' | undefined): void {
    if (!this.settings.hasMetrics) return;
    this.#jobs.ended(queue, durationMs, outcome);
    this.#planFlush();
  }

  workerCame(): void {
    this.#spawns++;
    this.#planFlush();
  }

  /** `source`: its connection, as frames name it. */
  workerLeft(source: number): void {
    this.#deaths++;
    this.sourceLeft(source);
  }

  sourceLeft(source: number): void {
    this.#gauges.delete(source);
    if (this.sampler === undefined && !this.settings.hasMetrics) return;
    if (this.#gone.length >= GONE_MAX) return this.#context.dropped('spans', 'buffer_full');
    this.#gone.push(source);
    this.#planFlush();
  }

  /** What a connection last reported about its process; undefined: nothing yet. */
  gaugesOf(source: number): WorkerGauges | undefined {
    return this.#gauges.get(source);
  }

  /** The telemetry thread has read them. `null`: the connection ended, and everything it sent was read. */
  noteGauges(read: readonly SourceGauges[]): void {
    for (const [source, gauges] of read) {
      if (gauges === null) this.#gauges.delete(source);
      else this.#gauges.set(source, gauges);
    }
  }

  /** For a connection that only sends telemetry; those of workers have numbers above 0. */
  newSource(): number {
    return --this.#lastSource;
  }

  /** Whether such a record is kept: whole traces are, or none of their records. */
  samplesLog(traceId: string | null): boolean {
    const { hasLogs, logsRatio } = this.settings;
    return hasLogs && (logsRatio >= 1 || isWithin(traceId ?? this.#context.token(), logsRatio));
  }

  /** A record of the engine or of `engine::log::*`. The caller marks quiet ones. */
  log(record: LogRecord): void {
    if (!this.samplesLog(record.trace_id)) return;
    if (this.#logs.length >= LOGS_MAX) return this.#context.dropped('logs', 'buffer_full');
    this.#logs.push(record);
    this.#planFlush(LOGS_MS);
  }

  /** A frame of a worker, without its prefix. The bytes are copied: they may be invalid when this returns. */
  frame(kind: TelemetryKind, source: number, bytes: Uint8Array): void {
    if (!this.#takes(kind)) return;
    const kept = bytes.length + FRAME_OWN_BYTES;
    if (this.#frameBytes + kept > FRAME_BYTES_MAX) {
      return this.#context.dropped(KIND_NAMES[kind], 'buffer_full');
    }
    this.#frameBytes += kept;
    // Not `slice()`: of a Buffer that is no copy.
    this.#frames.push({ kind, source, bytes: new Uint8Array(bytes) });
    this.#planFlush(kind === 'LOGS' ? LOGS_MS : FLUSH_MS);
  }

  /** Whether calls and jobs are counted. */
  get isCounting(): boolean {
    return this.settings.hasMetrics;
  }

  /** Sends all gathered data now: for a question that must see it, and for the end. */
  flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#send(true);
    // Nothing was accepted while the telemetry thread is overloaded.
    if (!this.#isEmpty) this.#planFlush(LOGS_MS);
  }

  #takes(kind: TelemetryKind): boolean {
    if (kind === 'OTLP') return this.sampler !== undefined;
    return kind === 'LOGS' ? this.settings.hasLogs : this.settings.hasMetrics;
  }

  #planFlush(delayMs = FLUSH_MS): void {
    if (this.#cancelFlush !== undefined && this.#flushDelayMs <= delayMs) return;
    this.#cancelFlush?.();
    this.#flushDelayMs = delayMs;
    this.#cancelFlush = this.#context.after(delayMs, () => this.#flushNow());
  }

  #flushNow(): void {
    this.#cancelFlush = undefined;
    this.#send(false);
    if (!this.#isEmpty) this.#planFlush(this.#sink.isFull ? LOGS_MS : FLUSH_MS);
  }

  /** A batch is full before its time. */
  #flushSoon(): void {
    if (!this.#sink.isFull) this.#send(false);
  }

  get #isEmpty(): boolean {
    const lists = this.#spans.count + this.#begun.length + this.#logs.length + this.#frames.length + this.#gone.length;
    return lists + this.#spawns + this.#deaths === 0 && this.#stats.isEmpty && this.#jobs.isEmpty;
  }

  #send(withCounts: boolean): void {
    if (this.#sink.isFull) return;
    const nowMs = this.#context.monotonicMs();
    // A change of the wall clock takes effect with the next batch.
    this.#epochMs = this.#steadyMs() - nowMs;
    this.#writePending();
    const areCountsDue = withCounts || nowMs - this.#countedMs >= COUNTS_MS;
    const calls = areCountsDue ? this.#stats.take() : [];
    const jobs = areCountsDue ? this.#jobs.take() : [];
    if (areCountsDue) this.#countedMs = nowMs;
    const counted = this.#spawns + this.#deaths + this.#gone.length + calls.length + jobs.length;
    if (this.#spans.count + this.#logs.length + this.#frames.length + counted === 0) return;
    const limited = this.sampler?.takeLimited() ?? 0;
    if (limited > 0) this.#context.dropped('spans', 'rate_limit', limited);
    const { rows, pushedOut } = this.#spans.take();
    if (pushedOut > 0) this.#context.dropped('spans', 'limit', pushedOut);
    this.#sink.take({
      spanRows: rows,
      payloads: this.payloads?.take() ?? [],
      logs: this.#logs,
      frames: this.#frames,
      goneSources: this.#gone,
      calls,
      jobs,
      workers: { spawns: this.#spawns, deaths: this.#deaths },
    });
    this.#logs = [];
    this.#frames = [];
    this.#gone = [];
    this.#frameBytes = this.#spawns = this.#deaths = 0;
  }

  #writePending(): void {
    for (const span of this.#begun) {
      span.place = -1;
      if (!this.#spans.add(span, this.#epochMs)) this.#context.dropped('spans', 'buffer_full');
    }
    this.#begun = [];
  }
}

const KIND_NAMES = { OTLP: 'spans', LOGS: 'logs', MTRC: 'metrics' } as const;

/** Longer ones are cut: attributes have their own limit, and a stack is useful without its end. */
const ERROR_PART_CHARS_MAX = 4_096;

function errorText(code: string, message: string, stack: string): string {
  return [code, message, stack].map((part) => part.slice(0, ERROR_PART_CHARS_MAX).replaceAll('\0', ' ')).join('\0');
}
