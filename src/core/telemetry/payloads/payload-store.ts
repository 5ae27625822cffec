// Inputs and outputs of calls, kept next to their spans (O9): redacted, bounded by bytes, and gone when their trace is.
// Runs on the telemetry thread.
//
// When room is short the oldest leaves, first those of calls that succeeded.

import type { PayloadPair } from './payload-capture.ts';
import { readPart, type StoredPayload } from './stored-payload.ts';

export interface StoredPair {
  readonly input: StoredPayload;
  readonly output: StoredPayload | null;
}

interface Entry {
  readonly traceId: string;
  readonly spanId: string;
  readonly pair: StoredPair;
  readonly bytes: number;
  /** The lane that it is in, and its neighbours there. */
  lane: Lane | undefined;
  previous: Entry | undefined;
  next: Entry | undefined;
}

const ENTRY_BYTES = 512;
const CHAR_BYTES = 2;
/** The part of the room that calls that failed may have. */
const FAILED_SHARE = 0.5;

export class PayloadStore {
  #bytesMax: number;
  readonly #traces = new Map<string, Map<string, Entry>>();
  #succeeded = new Lane();
  #failed = new Lane();
  readonly #onDrop: (count: number) => void;

  /** `onDrop` is called with the number of pairs that left for lack of room. */
  constructor(bytesMax: number, onDrop: (count: number) => void) {
    this.#bytesMax = bytesMax;
    this.#onDrop = onDrop;
  }

  get bytes(): number {
    return this.#succeeded.bytes + this.#failed.bytes;
  }

  adopt(bytesMax: number): void {
    this.#bytesMax = bytesMax;
    this.#makeRoom();
  }

  add(given: PayloadPair): void {
    const { traceId, spanId, hasFailed } = given;
    const pair = { input: readPart(given.input), output: given.output && readPart(given.output) };
    const bytes = ENTRY_BYTES + CHAR_BYTES * (lengthOf(pair.input) + lengthOf(pair.output));
    const entry: Entry = { traceId, spanId, pair, bytes, lane: undefined, previous: undefined, next: undefined };
    const entries = this.#traces.get(traceId) ?? new Map<string, Entry>();
    this.#traces.set(traceId, entries);
    const known = entries.get(spanId);
    known?.lane?.remove(known);
    entries.set(spanId, entry);
    (hasFailed ? this.#failed : this.#succeeded).add(entry);
    this.#makeRoom();
  }

  pairOf(traceId: string, spanId: string): StoredPair | undefined {
    return this.#traces.get(traceId)?.get(spanId)?.pair;
  }

  /** The trace is no longer stored. */
  forget(traceId: string): void {
    const entries = this.#traces.get(traceId);
    if (entries === undefined) return;
    this.#traces.delete(traceId);
    for (const entry of entries.values()) entry.lane?.remove(entry);
  }

  clear(): void {
    this.#traces.clear();
    this.#succeeded = new Lane();
    this.#failed = new Lane();
  }

  #makeRoom(): void {
    let left = 0;
    while (this.bytes > this.#bytesMax) {
      const isFailedFull = this.#failed.bytes > this.#bytesMax * FAILED_SHARE;
      const entry = (isFailedFull ? undefined : this.#succeeded.first) ?? this.#failed.first ?? this.#succeeded.first;
      if (entry === undefined) break;
      entry.lane?.remove(entry);
      const entries = this.#traces.get(entry.traceId);
      entries?.delete(entry.spanId);
      if (entries?.size === 0) this.#traces.delete(entry.traceId);
      left++;
    }
    if (left > 0) this.#onDrop(left);
  }
}

/** Pairs in the order in which they leave. They also leave with their trace, from any place. */
class Lane {
  bytes = 0;
  #first: Entry | undefined;
  #last: Entry | undefined;

  get first(): Entry | undefined {
    return this.#first;
  }

  add(entry: Entry): void {
    entry.lane = this;
    entry.previous = this.#last;
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    this.bytes += entry.bytes;
  }

  remove(entry: Entry): void {
    const { previous, next } = entry;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    entry.lane = entry.previous = entry.next = undefined;
    this.bytes -= entry.bytes;
  }
}

function lengthOf(payload: StoredPayload | null): number {
  return payload?.json?.length ?? 0;
}
