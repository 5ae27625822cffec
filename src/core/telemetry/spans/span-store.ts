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
  /** The first is the next to leave, unless spans of it arrived since it was placed. */
  readonly #recent = new Map<string, Trace>();
  /** When each of them was placed, which is its last arrival at that time. */
  readonly #placedMs = new WeakMap<Trace, number>();
  readonly #kept = new Map<string, Trace>();
  #slowest = new SlowestTraces();
  /** Kept ones that are no longer among the slowest. */
  #displaced: Trace[] = [];
  #count = 0;
  #bytes = 0;
  #keptCount = 0;
  #keptBytes = 0;
  #wholeSinceMs: number | undefined;
  #cutSinceMs: number | undefined;
  #limitedBy: keyof SpanStoreLimits = 'maxBytes';

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
    return this.#kept.has(traceId) || (this.#recent.get(traceId)?.errorCount ?? 0) > 0;
  }

  /** The limit for which something left last. */
  get limitedBy(): keyof SpanStoreLimits {
    return this.#limitedBy;
  }

  /** The last arrival of the oldest trace that was kept for its error or duration. */
  get keptSinceMs(): number | undefined {
    const [oldest] = this.#kept.values();
    return oldest?.lastArrivalMs;
  }

  get traceCount(): number {
    return this.#recent.size + this.#kept.size;
  }

  *traces(): Iterable<Trace> {
    yield* this.#kept.values();
    yield* this.#recent.values();
  }

  trace(traceId: string): Trace | undefined {
    return this.#recent.get(traceId) ?? this.#kept.get(traceId);
  }

  add(record: SpanRecord, arrivedMs: number): void {
    const trace = this.trace(record.trace_id) ?? this.#begin(record.trace_id, arrivedMs);
    const isKept = this.#kept.has(trace.id);
    const [spans, bytes] = [trace.spans.size, trace.bytes];
    if (!put(trace, record)) return;
    trace.lastArrivalMs = Math.max(trace.lastArrivalMs, arrivedMs);
    this.#count += trace.spans.size - spans;
    this.#bytes += trace.bytes - bytes;
    if (isKept) {
      this.#keptCount += trace.spans.size - spans;
      this.#keptBytes += trace.bytes - bytes;
    }
    if (this.#isFull()) this.#makeRoom(trace);
  }

  clear(): void {
    this.#recent.clear();
    this.#kept.clear();
    this.#slowest = new SlowestTraces();
    this.#displaced = [];
    this.#count = this.#bytes = this.#keptCount = this.#keptBytes = 0;
  }

  #begin(traceId: string, arrivedMs: number): Trace {
    const trace = new Trace(traceId);
    this.#recent.set(traceId, trace);
    this.#placedMs.set(trace, arrivedMs);
    return trace;
  }

  #isFull(): boolean {
    return this.#count > this.#limits.maxCount || this.#bytes > this.#limits.maxBytes;
  }

  /** `current` has just grown: it leaves last. */
  #makeRoom(current: Trace): void {
    let dropped = 0;
    this.#limitedBy = this.#count > this.#limits.maxCount ? 'maxCount' : 'maxBytes';
    while (this.#isFull()) {
      if (current.isOver(TRACE_SHARE, this.#limits)) {
        dropped += this.#cut(current);
        continue;
      }
      const oldest = this.#nextToLeave(current);
      dropped += oldest === undefined ? this.#cut(current) : this.#drop(oldest);
    }
    if (dropped > 0) this.#onDrop(dropped);
  }

  #nextToLeave(current: Trace): Trace | undefined {
    if (this.#isKeptFull()) {
      const oldest = firstBut(current, this.#kept);
      if (oldest !== undefined) return oldest;
    }
    for (;;) {
      const faster = this.#displaced.pop();
      if (faster !== undefined && faster !== current && this.#kept.has(faster.id)) return faster;
      const oldest = firstBut(current, this.#recent);
      if (oldest === undefined) return firstBut(current, this.#kept);
      if (oldest.lastArrivalMs > (this.#placedMs.get(oldest) ?? 0)) this.#placeLast(oldest);
      else if (this.#isWorthKeeping(oldest)) this.#keep(oldest);
      else return oldest;
    }
  }

  #isKeptFull(): boolean {
    const { maxCount, maxBytes } = this.#limits;
    return this.#keptCount > maxCount * KEPT_SHARE || this.#keptBytes > maxBytes * KEPT_SHARE;
  }

  #isWorthKeeping(trace: Trace): boolean {
    if (isInternal(trace.root)) return false;
    const displaced = this.#slowest.offer(trace);
    for (const faster of displaced ?? []) if (faster.errorCount === 0) this.#displaced.push(faster);
    return displaced !== undefined || trace.errorCount > 0;
  }

  #placeLast(trace: Trace): void {
    this.#recent.delete(trace.id);
    this.#recent.set(trace.id, trace);
    this.#placedMs.set(trace, trace.lastArrivalMs);
  }

  #keep(trace: Trace): void {
    this.#recent.delete(trace.id);
    this.#kept.set(trace.id, trace);
    this.#keptCount += trace.spans.size;
    this.#keptBytes += trace.bytes;
  }

  #drop(trace: Trace): number {
    if (this.#kept.delete(trace.id)) {
      this.#keptCount -= trace.spans.size;
      this.#keptBytes -= trace.bytes;
      this.#slowest.remove(trace);
    } else this.#recent.delete(trace.id);
    this.#count -= trace.spans.size;
    this.#bytes -= trace.bytes;
    this.#wholeSinceMs = Math.max(this.#wholeSinceMs ?? 0, trace.lastArrivalMs);
    return trace.spans.size;
  }

  /** Drops the oldest span of the trace. */
  #cut(trace: Trace): number {
    const [oldest] = trace.spans.values();
    if (oldest === undefined) return this.#drop(trace);
    trace.leave(oldest);
    trace.cutCount++;
    this.#count--;
    this.#bytes -= oldest.bytes;
    if (this.#kept.has(trace.id)) {
      this.#keptCount--;
      this.#keptBytes -= oldest.bytes;
    }
    this.#cutSinceMs = Math.max(
      this.#cutSinceMs ?? 0,
      Math.min(oldest.record.start_time_unix_nano / 1e6, trace.lastArrivalMs),
    );
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

function firstBut(current: Trace, traces: ReadonlyMap<string, Trace>): Trace | undefined {
  for (const trace of traces.values()) if (trace !== current) return trace;
  return undefined;
}
