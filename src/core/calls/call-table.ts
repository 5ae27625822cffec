// Every call in flight, from hand-over to its one answer.
//
// Job: create the id under which the executor knows the call, keep its deadline, settle it exactly once (I1).
// Neighbours: `router/calls/in-flight.ts` opens calls, `router/calls/in-flight.ts` ends them; both act on what is
// returned here. Invariants:
//   - An open call is in its slot, in one deadline bucket, and in no free list; a settled one is only in the free list.
//     `settle` is the single way from one to the other.
//   - A slot's generation rises each time it is settled, so an id names one call for ever and a late or repeated result
//     finds nothing.
//   - Only the executor that a call was handed to can settle it by a result.
//
// Call records are reused, because one object less for each message is measurable at 100 000 calls a second. The id is
// a UUID (Go and Rust clients require it) that contains slot and generation, so that finding the call takes arithmetic
// and not a hash of 36 characters.

import type { SharedCount } from '../limits/connection-counts.ts';
import { ProcessCounts } from '../limits/process-counts.ts';
import type { OpenSpan } from '../telemetry/spans/span-rows.ts';
import type { Executor } from './select-worker.ts';

/** One call. Fields are valid from `open` until `settle` has returned; do not keep the object. */
export class Call<E extends Executor, O> {
  readonly slot: number;
  readonly #idPrefix: string;
  generation: number;
  functionId = '';
  /** Cleared when the call is settled, like `origin`: a free record must not keep a dead connection. */
  executor: E | undefined = undefined;
  /** The caller that gets the answer, and the caller's id of the call; `undefined`: no caller waits (any more). */
  origin: O | undefined = undefined;
  originRef: string | number = '';
  deadlineMs = 0;
  startedMs = 0;
  /** Set where the call belongs to a trace that is kept. */
  span: OpenSpan | undefined = undefined;
  /** Its end is counted: a caller waits for it, and a worker or a user made it. */
  isCounted = true;
  /** A log trigger caused it (O3). */
  isQuiet = false;
  /** A restricted connection runs it for the engine or for a trusted one. */
  isOwed = false;
  /** A restricted connection made it or runs it. */
  isRestricted = false;
  /** A handler made it, and waits for it in its place. */
  isOfHandler = false;
  bucket = 0;
  indexInBucket = 0;
  isOpen = false;

  constructor(slot: number, idMiddle: string, generation: number) {
    this.slot = slot;
    this.generation = generation;
    this.#idPrefix = `${hex(slot, 8)}-${idMiddle}-`;
  }

  /** The executor's id of the call where the wire writes text; elsewhere it is slot and generation. */
  get id(): string {
    return this.#idPrefix + hex(this.generation, 12);
  }
}

export interface NewCall<E extends Executor, O> {
  functionId: string;
  executor: E;
  origin: O | undefined;
  originRef: string | number;
  nowMs: number;
  timeoutMs: number;
  span?: OpenSpan | undefined;
  /** A call of the console (API-2). */
  isInternal?: boolean | undefined;
  /** A restricted connection makes it or runs it. */
  isRestricted?: boolean | undefined;
  /** A handler makes it. */
  isOfHandler?: boolean | undefined;
}

/** Deadlines are checked in steps of this size: an answer is late by at most one step plus the timer's own delay. */
export const DEADLINE_STEP_MS = 25;

export class CallTable<E extends Executor, O> {
  readonly #slots: Call<E, O>[] = [];
  readonly #free: number[] = [];
  readonly #buckets = new Map<number, Call<E, O>[]>();
  readonly #idMiddle: string;
  readonly #firstGeneration: number;
  #expiredUpTo = 0;
  readonly #all: SharedCount;
  readonly #restricted: SharedCount;
  #openCount = 0;
  #passedOnCount = 0;
  #restrictedCount = 0;

  /**
   * `idMiddle`: the random part of all ids of this engine, shaped `xxxx-4xxx-yxxx`. `firstGeneration` is random too, so
   * that a result meant for an earlier run of the engine finds nothing.
   */
  constructor(idMiddle: string, firstGeneration = 0, counts = new ProcessCounts()) {
    this.#all = counts.of('calls');
    this.#restricted = counts.of('restricted calls');
    this.#idMiddle = idMiddle;
    this.#firstGeneration = firstGeneration;
  }

  get openCount(): number {
    return this.#openCount;
  }

  /** Open calls of the whole process. One that crosses routers counts once. */
  get processCount(): number {
    return this.#openCount - this.#passedOnCount + this.#all.elsewhere;
  }

  /** Those of them that a restricted connection made or runs. */
  get restrictedCount(): number {
    return this.#restrictedCount + this.#restricted.elsewhere;
  }

  open(call: NewCall<E, O>): Call<E, O> {
    // After an idle time no bucket waits: skip the steps that passed and do not walk them.
    if (this.#openCount === 0) this.#expiredUpTo = bucketOf(call.nowMs);
    const record = this.#takeSlot();
    record.functionId = call.functionId;
    record.executor = call.executor;
    record.origin = call.origin;
    record.originRef = call.originRef;
    record.startedMs = call.nowMs;
    record.span = call.span;
    record.isQuiet = false;
    record.isOwed = false;
    record.isRestricted = call.isRestricted === true;
    record.isOfHandler = call.isOfHandler === true && call.origin !== undefined;
    record.isCounted = call.origin !== undefined && call.isInternal !== true;
    record.deadlineMs = call.nowMs + call.timeoutMs;
    record.isOpen = true;
    this.#enterBucket(record);
    this.#openCount++;
    if (call.executor.isRouter === true) this.#passedOnCount++;
    else if (record.isRestricted) this.#noteRestricted(1);
    this.#all.note(this.#openCount - this.#passedOnCount);
    call.executor.inFlight++;
    return record;
  }

  /** The open call of that id, if it was handed to that executor. */
  find(id: string, executor: E): Call<E, O> | undefined {
    if (id.length !== 36 || !id.startsWith(this.#idMiddle, 9)) return undefined;
    const record = this.#slots[Number.parseInt(id.slice(0, 8), 16)];
    if (record === undefined || !record.isOpen || record.executor !== executor) return undefined;
    return record.id === id ? record : undefined;
  }

  /** The same, by the two numbers of the binary wire: slot and the low 32 bits of the generation. */
  findByNumbers(slot: number, generation: number, executor: E): Call<E, O> | undefined {
    const record = this.#slots[slot];
    if (record === undefined || !record.isOpen || record.executor !== executor) return undefined;
    return record.generation >>> 0 === generation ? record : undefined;
  }

  /** Ends the call. The record keeps its fields until the next `open`, so the caller reads them right away. */
  settle(call: Call<E, O>): void {
    if (!call.isOpen) throw new Error(`Call ${call.id} settled twice`);
    call.isOpen = false;
    call.generation++;
    if (call.executor !== undefined) call.executor.inFlight--;
    if (call.executor?.isRouter === true) this.#passedOnCount--;
    else if (call.isRestricted) this.#noteRestricted(-1);
    call.executor = undefined;
    call.origin = undefined;
    call.span = undefined;
    this.#openCount--;
    this.#all.note(this.#openCount - this.#passedOnCount);
    this.#leaveBucket(call);
    this.#free.push(call.slot);
  }

  /** The router that a call is passed on to counts it. */
  #noteRestricted(change: number): void {
    this.#restrictedCount += change;
    this.#restricted.note(this.#restrictedCount);
  }

  /** Calls whose deadline has passed, still open. */
  expired(nowMs: number): Call<E, O>[] {
    const upTo = bucketOf(nowMs);
    const due: Call<E, O>[] = [];
    for (; this.#expiredUpTo < upTo; this.#expiredUpTo++) {
      // One by one: as arguments of a single `push`, a bucket of a hundred thousand overflows the stack.
      for (const call of this.#buckets.get(this.#expiredUpTo) ?? []) due.push(call);
    }
    return due;
  }

  /** All open calls. A walk over every slot: only for the end of a connection or of a drain. */
  allOpen(): Call<E, O>[] {
    return this.#slots.filter((call) => call.isOpen);
  }

  #takeSlot(): Call<E, O> {
    const slot = this.#free.pop();
    const reused = slot === undefined ? undefined : this.#slots[slot];
    if (reused !== undefined) return reused;
    const record = new Call<E, O>(this.#slots.length, this.#idMiddle, this.#firstGeneration);
    this.#slots.push(record);
    return record;
  }

  #enterBucket(call: Call<E, O>): void {
    // Never into a bucket that was already checked: a deadline in the past is due at the next check.
    call.bucket = Math.max(bucketOf(call.deadlineMs), this.#expiredUpTo);
    const bucket = this.#buckets.get(call.bucket);
    if (bucket === undefined) {
      call.indexInBucket = 0;
      this.#buckets.set(call.bucket, [call]);
    } else {
      call.indexInBucket = bucket.length;
      bucket.push(call);
    }
  }

  #leaveBucket(call: Call<E, O>): void {
    const bucket = this.#buckets.get(call.bucket);
    const last = bucket?.pop();
    if (bucket === undefined || last === undefined) throw new Error(`Call ${call.id} is in no deadline bucket`);
    if (last !== call) {
      bucket[call.indexInBucket] = last;
      last.indexInBucket = call.indexInBucket;
    }
    if (bucket.length === 0) this.#buckets.delete(call.bucket);
  }
}

function bucketOf(timeMs: number): number {
  return Math.floor(timeMs / DEADLINE_STEP_MS);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}
