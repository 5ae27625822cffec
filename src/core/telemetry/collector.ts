// Gathers on the router's thread what happens, and hands it on in batches.
//
// Neighbours: `router/observe.ts` tells of calls, modules of requests, jobs and logs; `intake.ts` shows the way of it.
// Invariants:
//   B1  A call that is not sampled costs a look into the call's context and a few additions: no object is made for it.
//   B2  Everything gathered is bounded. What is over a bound is dropped, newest first, and counted (O1).
//   B3  Nothing here throws or waits, and no timer runs while nothing was gathered.

import { detach } from '../../protocol/byte-string.ts';
import { CallStats } from './call-stats.ts';
import { isSampled, isTraceparent, spanIdOf, traceIdOf, UNTRACED } from './context.ts';
import type { SourceGauges, TelemetryFrame, TelemetryKind, TelemetrySink } from './intake.ts';
import { isQuietTrace } from './quiet.ts';
import type { LogRecord } from './records.ts';
import { isWithin, placeOf, Sampler, type SamplingSettings, traceIdAt } from './sampling.ts';
import { SpanBuffer } from './span-buffer.ts';
import { OpenSpan, STATUS } from './span-rows.ts';
import type { WorkerGauges } from './worker-gauges.ts';

/** What the collector asks of the world. */
export interface CollectorWorld {
  readonly nowMs: () => number;
  monotonicMs(): number;
  after(delayMs: number, task: () => void): () => void;
  /** 32 hexadecimal digits by chance. */
  token(): string;
  /** From 0 to below 1, by chance. */
  fraction(): number;
  /** The engine has other worries than what happened: hardly any trace is kept (L1). */
  isPressed(): boolean;
  /** Something was dropped, for that reason. */
  dropped(kind: 'spans' | 'logs' | 'metrics', reason: string, times?: number): void;
}

export interface CollectorSettings {
  readonly serviceName: string;
  /** Absent: no spans, and what workers send of theirs is dropped. */
  readonly sampling: SamplingSettings | undefined;
  /** As many of the newest spans are looked at or sent on: of a batch with more, the others are of no use. */
  readonly spansKept: number;
  readonly hasLogs: boolean;
  /** 0 to 1. */
  readonly logsRatio: number;
  readonly hasMetrics: boolean;
}

/** How long what was gathered waits for more of it. Somebody may follow the log, or a trigger wait for it. */
const LOGS_MS = 50;
/** A question has all of it sent first; so it is seen at once, and the thread need not be woken often. */
const FLUSH_MS = 250;
/** Counts grow as numbers, so they can wait longer than what grows as a list. */
const COUNTS_MS = 1_000;
const SPANS_PER_BATCH = 1_024;
/** Begun and not told of yet. */
const SPANS_MAX = 8_192;
const LOGS_MAX = 4_096;
const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/** What a frame takes beside its bytes, roughly: empty ones must not be kept without end either. */
const FRAME_OWN_BYTES = 256;
const PRESSED_RATE = 0.01;

/** A string is the context of a trace that is not kept, only to be handed on. Undefined: the context stays as it is. */
export type Begun = OpenSpan | string | undefined;

export class Collector {
  settings: CollectorSettings;
  sampler: Sampler | undefined;
  readonly #world: CollectorWorld;
  readonly #sink: TelemetrySink;
  readonly #stats = new CallStats();
  readonly #spans: SpanBuffer;
  /** Begun since the last batch: those of them that have not ended by the next are told as pending. */
  #begun: OpenSpan[] = [];
  #logs: LogRecord[] = [];
  #frames: TelemetryFrame[] = [];
  #frameBytes = 0;
  #gone: number[] = [];
  /** Only of connections that are there. */
  readonly #gauges = new Map<number, WorkerGauges>();
  #lastSource = 0;
  #spawns = 0;
  #deaths = 0;
  #epochMs: number;
  #countedMs: number;
  #cancelFlush: (() => void) | undefined;
  #flushDelayMs = 0;

  constructor(settings: CollectorSettings, world: CollectorWorld, sink: TelemetrySink) {
    this.settings = settings;
    this.sampler = settings.sampling && new Sampler(settings.sampling);
    this.#spans = new SpanBuffer(settings.spansKept);
    this.#world = world;
    this.#sink = sink;
    this.#countedMs = world.monotonicMs();
    this.#epochMs = world.nowMs() - this.#countedMs;
  }

  /** Other rules for what is kept, from the next trace on. */
  adopt(settings: CollectorSettings): void {
    this.settings = settings;
    this.sampler = settings.sampling && new Sampler(settings.sampling);
    this.#spans.spansKept = settings.spansKept;
  }

  /**
   * Something begins. `operation` and `service` (the worker that asked; empty for the engine) are what sampling rules
   * see; `prefix` + `operation` is the span's name.
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
    // The cheapest look first: at a ratio of 0 it is the whole cost of a call that nobody samples.
    if (sampler.isNever && (traceparent === undefined || !isSampled(traceparent))) return undefined;
    if (!isTraceparent(traceparent)) {
      if (sampler.isNever) return undefined;
      const traceId = this.#world.token();
      if (!this.#decide(sampler, placeOf(traceId), operation, service)) return `00-${traceId}-${traceId.slice(16)}-00`;
      return this.#open(prefix + operation, functionId, traceId, '', baggage);
    }
    if (sampler.settings.isParentBased && !isSampled(traceparent)) return undefined;
    // A piece of a frame would keep the whole frame for as long as the call runs.
    const parent = detach(traceparent);
    const traceId = traceIdOf(parent);
    if (!sampler.settings.isParentBased && !this.#decide(sampler, placeOf(traceId), operation, service)) {
      return undefined;
    }
    return this.#open(prefix + operation, functionId, traceId, spanIdOf(parent), baggage);
  }

  /** The same for who can say of a trace that it is not kept without an id for it: then it is `UNTRACED`. */
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
    const place = this.#world.fraction();
    if (!this.#decide(sampler, place, operation, service)) return UNTRACED;
    return this.#open(prefix + operation, functionId, traceIdAt(place, this.#world.token()), '', baggage);
  }

  /** The same where a trace begins whose id was chosen before: decided like any other, whatever its context says. */
  beginRoot(prefix: string, operation: string, functionId: string, traceId: string): Begun {
    const { sampler } = this;
    if (sampler === undefined || !this.#decide(sampler, placeOf(traceId), operation, '')) return undefined;
    return this.#open(prefix + operation, functionId, traceId, '', undefined);
  }

  #decide(sampler: Sampler, place: number, operation: string, service: string): boolean {
    if (place >= PRESSED_RATE && this.#world.isPressed()) return false;
    return sampler.decide(place, operation, service || this.settings.serviceName, this.#world.nowMs);
  }

  #open(name: string, functionId: string, traceId: string, parentId: string, baggage: string | undefined): OpenSpan {
    const kept = baggage === undefined ? '' : detach(baggage);
    const spanId = this.#world.token().slice(16);
    const span = new OpenSpan(traceId, spanId, parentId, name, functionId, kept, this.#world.monotonicMs());
    if (this.#begun.length < SPANS_MAX) this.#begun.push(span);
    this.#planFlush();
    return span;
  }

  /** Ends it well, or as an error when there is a `code`. Later ends of the same span are of no effect. */
  end(span: OpenSpan, code?: string, message = '', stack = ''): void {
    this.endAt(span, this.#world.monotonicMs(), code, message, stack);
  }

  /** The same for whoever has looked at the clock already. */
  endAt(span: OpenSpan, nowMs: number, code?: string, message = '', stack = ''): void {
    if (span.hasEnded) return;
    span.endedMs = nowMs;
    if (span.status === STATUS.unset) span.status = code === undefined ? STATUS.ok : STATUS.error;
    if (code !== undefined) span.error = errorText(code, message, stack);
    if (!this.#spans.add(span, this.#epochMs)) return this.#world.dropped('spans', 'buffer_full');
    if (this.#spans.count >= SPANS_PER_BATCH) this.#flushSoon();
    else this.#planFlush();
  }

  /** A call has ended. `functionId` is kept: not a piece of a large text. `code` undefined: well. */
  callEnded(functionId: string, durationMs: number, code: string | undefined): void {
    if (!this.settings.hasMetrics) return;
    this.#stats.ended(functionId, durationMs, code);
    this.#planFlush();
  }

  /** A call that nobody waits for was accepted, or a job. */
  callDeferred(functionId: string): void {
    if (!this.settings.hasMetrics) return;
    this.#stats.deferred(functionId);
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
    this.#gone.push(source);
    this.#planFlush();
  }

  /** What a connection last said of its process; undefined: nothing yet. */
  gaugesOf(source: number): WorkerGauges | undefined {
    return this.#gauges.get(source);
  }

  /** The telemetry thread has read them. `null`: the connection is gone, and everything that it sent was read. */
  noteGauges(read: readonly SourceGauges[]): void {
    for (const [source, gauges] of read) {
      if (gauges === null) this.#gauges.delete(source);
      else this.#gauges.set(source, gauges);
    }
  }

  /** For a connection that only brings telemetry; those of workers have numbers above 0. */
  newSource(): number {
    return --this.#lastSource;
  }

  /** Whether a record like this is kept; whole traces are, or none of their records. */
  samplesLog(traceId: string | null): boolean {
    const { hasLogs, logsRatio } = this.settings;
    return hasLogs && (logsRatio >= 1 || isWithin(traceId ?? this.#world.token(), logsRatio));
  }

  /** A record of the engine or of `engine::log::*`. The caller marks what it knows to be quiet beyond its trace. */
  log(record: LogRecord): void {
    if (!this.samplesLog(record.trace_id)) return;
    if (this.#logs.length >= LOGS_MAX) return this.#world.dropped('logs', 'buffer_full');
    const isQuiet = record.is_quiet !== true && record.trace_id !== null && isQuietTrace(record.trace_id);
    this.#logs.push(isQuiet ? { ...record, is_quiet: true } : record);
    this.#planFlush(LOGS_MS);
  }

  /** A frame of a worker, without its prefix. The bytes are copied: they may be gone when this returns. */
  frame(kind: TelemetryKind, source: number, bytes: Uint8Array): void {
    if (!this.#takes(kind)) return;
    const kept = bytes.length + FRAME_OWN_BYTES;
    if (this.#frameBytes + kept > FRAME_BYTES_MAX) {
      return this.#world.dropped(KIND_NAMES[kind], 'buffer_full');
    }
    this.#frameBytes += kept;
    // Not `slice()`: of a Buffer that is no copy.
    this.#frames.push({ kind, source, bytes: new Uint8Array(bytes) });
    this.#planFlush(kind === 'LOGS' ? LOGS_MS : FLUSH_MS);
  }

  /** Hands on what there is, now: for a question that must see it, and for the end. */
  flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    this.#send(true);
    // Nothing was taken while the telemetry thread is behind.
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
    this.#cancelFlush = this.#world.after(delayMs, () => this.#flushNow());
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
    return lists + this.#spawns + this.#deaths === 0 && this.#stats.isEmpty;
  }

  #send(withCounts: boolean): void {
    if (this.#sink.isFull) return;
    const nowMs = this.#world.monotonicMs();
    // A wall clock that was set takes effect with the next batch.
    this.#epochMs = this.#world.nowMs() - nowMs;
    this.#writePending();
    const areCountsDue = withCounts || nowMs - this.#countedMs >= COUNTS_MS;
    const calls = areCountsDue ? this.#stats.take() : [];
    if (areCountsDue) this.#countedMs = nowMs;
    const counted = this.#spawns + this.#deaths + this.#gone.length + calls.length;
    if (this.#spans.count + this.#logs.length + this.#frames.length + counted === 0) return;
    const limited = this.sampler?.takeLimited() ?? 0;
    if (limited > 0) this.#world.dropped('spans', 'rate_limit', limited);
    const { rows, pushedOut } = this.#spans.take();
    if (pushedOut > 0) this.#world.dropped('spans', 'limit', pushedOut);
    this.#sink.take({
      spanRows: rows,
      logs: this.#logs,
      frames: this.#frames,
      goneSources: this.#gone,
      calls,
      workers: { spawns: this.#spawns, deaths: this.#deaths },
    });
    this.#logs = [];
    this.#frames = [];
    this.#gone = [];
    this.#frameBytes = this.#spawns = this.#deaths = 0;
  }

  #writePending(): void {
    for (const span of this.#begun) {
      if (!span.hasEnded && !this.#spans.add(span, this.#epochMs)) this.#world.dropped('spans', 'buffer_full');
    }
    this.#begun = [];
  }
}

const KIND_NAMES = { OTLP: 'spans', LOGS: 'logs', MTRC: 'metrics' } as const;

/** Longer ones are cut: attributes have their own bound, and a stack is of use without its end. */
const ERROR_PART_CHARS_MAX = 4_096;

function errorText(code: string, message: string, stack: string): string {
  return [code, message, stack].map((part) => part.slice(0, ERROR_PART_CHARS_MAX).replaceAll('\0', ' ')).join('\0');
}
