// The stored spans of one trace, with the summary that lists read instead of its spans.
//
// What always holds: the summary (counts, services) covers exactly the spans held, at any moment.

import type { SpanRecord, TraceStatusWord } from '../records/records.ts';
import type { TraceQueue } from './trace-queue.ts';

export interface StoredSpan {
  record: SpanRecord;
  bytes: number;
}

export class Trace {
  readonly id: string;
  readonly spans = new Map<string, StoredSpan>();
  errorCount = 0;
  pendingCount = 0;
  bytes = 0;
  /** When its last span arrived, Unix milliseconds. */
  lastArrivalMs = 0;
  /** Set by the queue that it is in. */
  queue: TraceQueue | undefined;
  previous: Trace | undefined;
  next: Trace | undefined;
  /** Its last arrival when it was placed there. */
  placedMs = 0;
  #root: StoredSpan | undefined;
  #hasRoot = true;

  constructor(id: string) {
    this.id = id;
  }

  /** Whether it holds more than a part of what a store with these limits can. */
  isOver(share: number, { maxCount, maxBytes }: { readonly maxCount: number; readonly maxBytes: number }): boolean {
    return this.spans.size > maxCount * share || this.bytes > maxBytes * share;
  }

  enter(span: StoredSpan): void {
    const { record } = span;
    this.bytes += span.bytes;
    this.spans.set(record.span_id, span);
    this.#count(record, 1);
    // A child does not affect a trace whose root is known.
    if (record.parent_span_id === null || !this.#hasRoot) this.#root = undefined;
  }

  leave(span: StoredSpan): void {
    const { record } = span;
    this.bytes -= span.bytes;
    this.spans.delete(record.span_id);
    this.#count(record, -1);
    if (this.#root === span) this.#root = undefined;
  }

  /** The span without a parent here. Clocks of workers differ, so the first start alone does not show it. */
  get root(): SpanRecord {
    this.#root ??= this.#findRoot();
    return this.#root.record;
  }

  /** Of its spans. Computed when asked for: one more map for each trace would cost more than all questions. */
  get services(): Set<string> {
    const services = new Set<string>();
    for (const { record } of this.spans.values()) services.add(record.service_name);
    return services;
  }

  get status(): TraceStatusWord {
    const { root } = this;
    const isPending = this.#hasRoot ? root.pending === true : this.pendingCount > 0;
    if (isPending) return 'pending';
    return this.errorCount > 0 ? 'error' : 'ok';
  }

  #findRoot(): StoredSpan {
    let best: StoredSpan | undefined;
    let bestRank = -1;
    for (const span of this.spans.values()) {
      const rank = this.#rankOf(span.record);
      if (rank < bestRank || (rank === bestRank && best !== undefined && !isBefore(span, best))) continue;
      best = span;
      bestRank = rank;
    }
    this.#hasRoot = bestRank === RANK.root;
    if (best === undefined) throw new Error('A trace without spans was asked for its root');
    return best;
  }

  #rankOf({ parent_span_id: parent }: SpanRecord): number {
    if (parent === null) return RANK.root;
    return this.spans.has(parent) ? RANK.child : RANK.orphan;
  }

  #count({ status, pending }: SpanRecord, by: 1 | -1): void {
    if (status === 'error') this.errorCount += by;
    if (pending === true) this.pendingCount += by;
  }
}

/** The engine's internal spans: included only on request. */
export function isInternal({ attributes }: SpanRecord): boolean {
  return attributes.some(
    ([key, value]) =>
      ((key === 'svc.function.kind' || key === 'iii.function.kind') && value === 'internal') ||
      (key === 'function_id' && value.startsWith('engine::')),
  );
}

/** An orphan is the child of a span that is not stored, such as that of a caller outside. */
const RANK = { child: 0, orphan: 1, root: 2 } as const;

function isBefore(a: StoredSpan, b: StoredSpan): boolean {
  return a.record.start_time_unix_nano < b.record.start_time_unix_nano;
}
