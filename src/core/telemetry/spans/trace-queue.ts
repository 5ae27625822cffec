// Traces in the order in which they leave the store. A linked list: traces leave at any place, and the removal of a key
// from the front of a large `Map` costs more with each one that left before.

import type { Trace } from './stored-trace.ts';

export class TraceQueue {
  /** The sums over its traces. */
  spans = 0;
  bytes = 0;
  #first: Trace | undefined;
  #last: Trace | undefined;

  /** The next to leave. */
  get first(): Trace | undefined {
    return this.#first;
  }

  firstBut(current: Trace): Trace | undefined {
    return this.#first === current ? current.next : this.#first;
  }

  /** Places it last, also from another queue. */
  push(trace: Trace): void {
    trace.queue?.remove(trace);
    trace.queue = this;
    trace.placedMs = trace.lastArrivalMs;
    trace.previous = this.#last;
    if (this.#last === undefined) this.#first = trace;
    else this.#last.next = trace;
    this.#last = trace;
    this.resize(trace.spans.size, trace.bytes);
  }

  remove(trace: Trace): void {
    const { previous, next } = trace;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    trace.queue = trace.previous = trace.next = undefined;
    this.resize(-trace.spans.size, -trace.bytes);
  }

  /** A trace in it has grown or shrunk by that much. */
  resize(spans: number, bytes: number): void {
    this.spans += spans;
    this.bytes += bytes;
  }
}
