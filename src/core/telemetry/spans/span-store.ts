// The spans of the newest traces, in memory. Bounded by count and by bytes: the oldest span leaves first (O1).
//
// What always holds:
//   - `bytes` is the sum over all spans held, each as `recordBytes` counts it; neither bound is exceeded after `add`.
//   - The summary of a trace (counts, services) covers exactly the spans held, at any moment: lists read traces and not
//     their spans.
//   - A pending span is replaced by a later one with the same ids, never the other way round.

import { recordBytes, type SpanRecord, type TraceStatusWord } from '../records/records.ts';

export interface SpanStoreLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
}

export interface StoredSpan {
  record: SpanRecord;
  bytes: number;
}

export class SpanStore {
  readonly #limits: SpanStoreLimits;
  readonly #traces = new Map<string, Trace>();
  readonly #onDrop: (count: number) => void;
  /** In the order of arrival; those before `#head` have left. */
  #queue: StoredSpan[] = [];
  #head = 0;
  #count = 0;
  #bytes = 0;
  #hasDropped = false;

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

  /** All spans that began later are here, Unix milliseconds; `undefined`: all spans are. */
  get wholeSinceMs(): number | undefined {
    if (!this.#hasDropped) return undefined;
    const oldest = this.#queue[this.#head]?.record;
    return oldest === undefined ? undefined : Math.max(oldest.start_time_unix_nano, oldest.end_time_unix_nano) / 1e6;
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

  add(record: SpanRecord): void {
    let trace = this.#traces.get(record.trace_id);
    if (trace === undefined) {
      trace = new Trace(record.trace_id);
      this.#traces.set(record.trace_id, trace);
    }
    const bytes = recordBytes(record);
    const known = trace.spans.get(record.span_id);
    if (known === undefined) {
      const span: StoredSpan = { record, bytes };
      trace.enter(span);
      this.#queue.push(span);
      this.#count++;
      this.#bytes += bytes;
    } else if (known.record.pending === true) {
      trace.leave(known);
      this.#bytes += bytes - known.bytes;
      known.record = record;
      known.bytes = bytes;
      trace.enter(known);
    }
    this.#evict();
  }

  clear(): void {
    this.#traces.clear();
    this.#queue = [];
    this.#head = 0;
    this.#count = 0;
    this.#bytes = 0;
  }

  #evict(): void {
    let dropped = 0;
    while (this.#count > this.#limits.maxCount || this.#bytes > this.#limits.maxBytes) {
      const oldest = this.#queue[this.#head];
      if (oldest === undefined) break;
      this.#head++;
      this.#remove(oldest);
      dropped++;
    }
    if (this.#head > 1_024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    if (dropped === 0) return;
    this.#hasDropped = true;
    this.#onDrop(dropped);
  }

  #remove(span: StoredSpan): void {
    const trace = this.#traces.get(span.record.trace_id);
    trace?.leave(span);
    if (trace?.spans.size === 0) this.#traces.delete(trace.id);
    this.#count--;
    this.#bytes -= span.bytes;
  }
}

export class Trace {
  readonly id: string;
  readonly spans = new Map<string, StoredSpan>();
  errorCount = 0;
  pendingCount = 0;
  /** How many spans each service has. */
  readonly services = new Map<string, number>();
  #root: StoredSpan | undefined;
  #hasRoot = true;

  constructor(id: string) {
    this.id = id;
  }

  enter(span: StoredSpan): void {
    const { record } = span;
    this.spans.set(record.span_id, span);
    this.#count(record, 1);
    // A child does not affect a trace whose root is known.
    if (record.parent_span_id === null || !this.#hasRoot) this.#root = undefined;
  }

  leave(span: StoredSpan): void {
    const { record } = span;
    this.spans.delete(record.span_id);
    this.#count(record, -1);
    if (this.#root === span) this.#root = undefined;
  }

  /** The span without a parent. Without one, the span that began first represents the trace in lists. */
  get root(): SpanRecord {
    this.#root ??= this.#findRoot();
    return this.#root.record;
  }

  get status(): TraceStatusWord {
    const { root } = this;
    const isPending = this.#hasRoot ? root.pending === true : this.pendingCount > 0;
    if (isPending) return 'pending';
    return this.errorCount > 0 ? 'error' : 'ok';
  }

  #findRoot(): StoredSpan {
    let first: StoredSpan | undefined;
    let root: StoredSpan | undefined;
    for (const span of this.spans.values()) {
      if (first === undefined || isBefore(span, first)) first = span;
      if (span.record.parent_span_id === null && (root === undefined || isBefore(span, root))) root = span;
    }
    this.#hasRoot = root !== undefined;
    const found = root ?? first;
    if (found === undefined) throw new Error('A trace without spans was asked for its root');
    return found;
  }

  #count({ status, pending, service_name: service }: SpanRecord, by: 1 | -1): void {
    if (status === 'error') this.errorCount += by;
    if (pending === true) this.pendingCount += by;
    const spans = (this.services.get(service) ?? 0) + by;
    if (spans === 0) this.services.delete(service);
    else this.services.set(service, spans);
  }
}

function isBefore(a: StoredSpan, b: StoredSpan): boolean {
  return a.record.start_time_unix_nano < b.record.start_time_unix_nano;
}
