// The spans of recent traces, in memory, bounded by count and by bytes (O1).
//
// When room is short, a whole trace leaves: the one whose last span arrived first. Traces with errors and the slowest
// of each function are kept instead, in a part of the room that is theirs, until newer ones of their kind need it (O7).
//
// What always holds:
//   - `count` and `bytes` are the sums over all traces held; neither limit is exceeded after `add`.
//   - A trace is in exactly one of `#recent` and `#kept`, each in the order in which its traces leave.
//   - A pending span is replaced by a later one with the same ids, never the other way round.

import { recordBytes, type SpanRecord } from '../records/records.ts';
import { SlowestTraces } from './slowest-traces.ts';
import { isInternal, Trace } from './stored-trace.ts';
import { TraceQueue } from './trace-queue.ts';

export interface SpanStoreLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
}

/** The part of the room that kept traces may have, and that one trace may have. */
const KEPT_SHARE = 0.5;
const TRACE_SHARE = 0.5;

export class SpanStore {
  readonly #limits: SpanStoreLimits;
  readonly #onDrop: (count: number) => void;
  readonly #traces = new Map<string, Trace>();
  #recent = new TraceQueue();
  #kept = new TraceQueue();
  #slowest = new SlowestTraces();
  /** Kept ones that are no longer among the slowest. */
  #displaced: Trace[] = [];
  #count = 0;
  #bytes = 0;
  #wholeSinceMs: number | undefined;
  #cutSinceMs: number | undefined;
  #limitedBy: keyof SpanStoreLimits = 'maxBytes';

  /** Called with the id of each trace that left. */
  onLeave: (traceId: string) => void = () => {};

  /** `onDrop` is called with the number of spans that left for lack of room. */
  constructor(limits: SpanStoreLimits, onDrop: (count: number) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** All traces that began later are here, Unix milliseconds; `undefined`: all traces are. */
  get wholeSinceMs(): number | undefined {
    return this.#wholeSinceMs;
  }

  /** The same for spans: of a very large trace the oldest leave first. */
  get spansWholeSinceMs(): number | undefined {
    if (this.#cutSinceMs === undefined) return this.#wholeSinceMs;
    return Math.max(this.#cutSinceMs, this.#wholeSinceMs ?? 0);
  }

  /** Whether traces with this id are kept longer than others. */
  keeps(traceId: string): boolean {
    const trace = this.#traces.get(traceId);
    return trace !== undefined && (trace.queue === this.#kept || trace.errorCount > 0);
  }

  /** The limit for which something left last. */
  get limitedBy(): keyof SpanStoreLimits {
    return this.#limitedBy;
  }

  /** The last arrival of the oldest trace that was kept for its error or duration. */
  get keptSinceMs(): number | undefined {
    return this.#kept.first?.lastArrivalMs;
  }

  get traceCount(): number {
    return this.#traces.size;
  }

  traces(): Iterable<Trace> {
    return this.#traces.values();
  }

  trace(traceId: string): Trace | undefined {
    return this.#traces.get(traceId);
  }

  add(record: SpanRecord, arrivedMs: number): void {
    const trace = this.#traces.get(record.trace_id) ?? this.#begin(record.trace_id, arrivedMs);
    const [spans, bytes] = [trace.spans.size, trace.bytes];
    if (!put(trace, record)) return;
    if (arrivedMs > trace.lastArrivalMs) trace.lastArrivalMs = arrivedMs;
    this.#resize(trace, trace.spans.size - spans, trace.bytes - bytes);
    if (this.#isFull()) this.#makeRoom(trace);
  }

  clear(nowMs: number): void {
    this.#wholeSinceMs = nowMs;
    this.#traces.clear();
    this.#recent = new TraceQueue();
    this.#kept = new TraceQueue();
    this.#slowest = new SlowestTraces();
    this.#displaced = [];
    this.#count = this.#bytes = 0;
  }

  #begin(traceId: string, arrivedMs: number): Trace {
    const trace = new Trace(traceId);
    this.#traces.set(traceId, trace);
    trace.lastArrivalMs = arrivedMs;
    this.#recent.push(trace);
    return trace;
  }

  #resize(trace: Trace, spans: number, bytes: number): void {
    this.#count += spans;
    this.#bytes += bytes;
    trace.queue?.resize(spans, bytes);
  }

  #isFull(): boolean {
    return this.#count > this.#limits.maxCount || this.#bytes > this.#limits.maxBytes;
  }

  /** `current` has just grown: it leaves last. */
  #makeRoom(current: Trace): void {
    let dropped = 0;
    this.#limitedBy = this.#count > this.#limits.maxCount ? 'maxCount' : 'maxBytes';
    while (this.#isFull()) {
      const oldest = current.isOver(TRACE_SHARE, this.#limits) ? undefined : this.#nextToLeave(current);
      dropped += oldest === undefined ? this.#cut(current) : this.#drop(oldest);
    }
    if (dropped > 0) this.#onDrop(dropped);
  }

  #nextToLeave(current: Trace): Trace | undefined {
    if (this.#isKeptFull()) {
      const oldest = this.#kept.firstBut(current);
      if (oldest !== undefined) return oldest;
    }
    for (;;) {
      const faster = this.#displaced.pop();
      if (faster !== undefined && faster !== current && faster.queue === this.#kept) return faster;
      const oldest = this.#recent.firstBut(current);
      if (oldest === undefined) return this.#kept.firstBut(current);
      if (oldest.lastArrivalMs > oldest.placedMs) this.#recent.push(oldest);
      else if (this.#isWorthKeeping(oldest)) this.#kept.push(oldest);
      else return oldest;
    }
  }

  #isKeptFull(): boolean {
    const { spans, bytes } = this.#kept;
    return spans > this.#limits.maxCount * KEPT_SHARE || bytes > this.#limits.maxBytes * KEPT_SHARE;
  }

  #isWorthKeeping(trace: Trace): boolean {
    if (isInternal(trace.root)) return false;
    const displaced = this.#slowest.offer(trace);
    for (const faster of displaced ?? []) if (faster.errorCount === 0) this.#displaced.push(faster);
    return displaced !== undefined || trace.errorCount > 0;
  }

  #drop(trace: Trace): number {
    const { size } = trace.spans;
    this.#count -= size;
    this.#bytes -= trace.bytes;
    if (trace.queue === this.#kept) this.#slowest.remove(trace);
    trace.queue?.remove(trace);
    this.#traces.delete(trace.id);
    this.onLeave(trace.id);
    this.#wholeSinceMs = Math.max(this.#wholeSinceMs ?? 0, trace.lastArrivalMs);
    return size;
  }

  /** Drops the oldest span of the trace. */
  #cut(trace: Trace): number {
    const [oldest] = trace.spans.values();
    if (oldest === undefined) return this.#drop(trace);
    trace.leave(oldest);
    this.#resize(trace, -1, -oldest.bytes);
    const startMs = oldest.record.start_time_unix_nano / 1e6;
    this.#cutSinceMs = Math.max(this.#cutSinceMs ?? 0, Math.min(startMs, trace.lastArrivalMs));
    if (trace.spans.size === 0) this.#drop(trace);
    return 1;
  }
}

/** Whether the record is stored now. */
function put(trace: Trace, record: SpanRecord): boolean {
  const bytes = recordBytes(record);
  const known = trace.spans.get(record.span_id);
  if (known !== undefined && known.record.pending !== true) return false;
  if (known === undefined) trace.enter({ record, bytes });
  else {
    trace.leave(known);
    trace.enter({ record, bytes });
  }
  return true;
}
