// Claims jobs of one queue: ready jobs first, then due ones, then fresh ones.

import type { JobPast, WaitingMark } from '../../../core/queue/records.ts';
import type { Claimed } from './advance-codec.ts';
import type { OpenQueue, QueueBook } from './book.ts';
import { firstIn, isTrue, keysIn, removeEntry, restoreEntries } from './indexes.ts';
import { decodeJob, type JobRecord } from './job-record.ts';
import { dueUntil, jobKey, rangeOf, runningKey, seqOf } from './keys.ts';
import { toJson } from './marks.ts';
import { bury, firstRun, onlyPast, readWaiting, setAside, unplace } from './places.ts';

/** The limit of one transaction, including jobs that are skipped or expire, because other commands wait for it. */
const LOOKED_AT_MAX = 1_000;
const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;

export class Claim {
  readonly jobs: Claimed[] = [];
  readonly #book: QueueBook;
  readonly #queue: OpenQueue;
  readonly #deliveriesMax: number;
  #bytes = 0;
  #lookedAt = 0;

  constructor(book: QueueBook, queue: OpenQueue, deliveriesMax: number) {
    this.#book = book;
    this.#queue = queue;
    this.#deliveriesMax = deliveriesMax;
  }

  take(count: number): void {
    const { head } = this.#queue;
    if (!head.isPaused && head.ready > 0) this.#takeReady(count);
    // Jobs expire in a paused queue too.
    if (head.delayed + head.retrying + head.parked > 0) this.#takeDue(count);
    if (!head.isPaused && head.fresh > 0) this.#takeFresh(count);
  }

  #isFull(count: number): boolean {
    return this.jobs.length >= count || this.#bytes >= PAYLOAD_BYTES_MAX || this.#lookedAt >= LOOKED_AT_MAX;
  }

  #takeReady(count: number): void {
    const { kv } = this.#book;
    const { number, head } = this.#queue;
    const ready = rangeOf('A', number);
    if (this.#isFull(count)) return;
    for (const key of keysIn(kv, ready, { limit: count - this.jobs.length })) {
      if (this.#isFull(count)) return;
      const mark = this.#markOf(key, 'ready');
      if (mark !== undefined) this.#takeWaiting(seqOf(key), mark);
    }
    if (head.ready > 0 && firstIn(kv, ready) === undefined) restoreEntries(this.#book, this.#queue);
  }

  #takeDue(count: number): void {
    const due = dueUntil(this.#queue.number, this.#book.steadyMs);
    for (const key of keysIn(this.#book.kv, due, { limit: LOOKED_AT_MAX })) {
      const mark = this.#markOf(key, undefined);
      if (mark === undefined) continue;
      const seq = seqOf(key);
      if (mark.state === 'parked') this.#expire(seq, mark);
      else if (!this.#isFull(count) && !this.#queue.head.isPaused) this.#takeWaiting(seq, mark);
      else if (this.#lookedAt >= LOOKED_AT_MAX) return;
    }
  }

  #takeFresh(count: number): void {
    if (this.#isFull(count)) return;
    this.#queue.line.take((seq, record) => {
      this.#lookedAt++;
      this.#add(seq, record, firstRun(seq));
      return !this.#isFull(count);
    });
  }

  #takeWaiting(seq: number, mark: WaitingMark): void {
    this.#lookedAt++;
    const found = this.#book.sound(() => this.#recordOf(seq));
    if (found === undefined) return setAside(this.#book, this.#queue, seq, mark.state);
    unplace(this.#book, this.#queue, seq, mark);
    const past = onlyPast(mark);
    if (past.deliveries >= this.#deliveriesMax) {
      const error = `handed over ${past.deliveries} times without an end; last error: ${past.error ?? 'none'}`;
      bury(this.#book, this.#queue, seq, past, { reason: 'poison', error });
      return;
    }
    this.#run(seq, found.value, past);
  }

  #recordOf(seq: number): JobRecord {
    const value = this.#book.kv.get(jobKey(this.#queue.number, seq));
    if (value === undefined) throw new Error('A waiting job has no record');
    return decodeJob(value);
  }

  #expire(seq: number, mark: WaitingMark): void {
    this.#lookedAt++;
    const found = this.#book.sound(() => unplace(this.#book, this.#queue, seq, mark));
    if (found === undefined) return setAside(this.#book, this.#queue, seq, mark.state);
    const reason = mark.isKept === true ? 'no_subscriber' : 'function_not_found';
    const who = mark.isKept === true ? 'no function subscribed to the topic' : 'no worker offered the function';
    bury(this.#book, this.#queue, seq, onlyPast(mark), { reason, error: `${who} in time` });
  }

  #run(seq: number, record: JobRecord, past: JobPast): void {
    const { number, head } = this.#queue;
    const run = { ...past, deliveries: past.deliveries + 1 };
    this.#book.kv.put(runningKey(number, seq), toJson({ ...run, sinceMs: this.#book.nowMs }));
    head.running++;
    this.#add(seq, record, run);
  }

  #add(seq: number, record: JobRecord, { attempts, deliveries }: JobPast): void {
    this.#bytes += record.payload.length;
    const receipt = this.#book.receiptParts(this.#queue, seq, record.enqueuedMs);
    this.jobs.push({ receipt, token: deliveries, attempt: attempts + 1, record });
  }

  /**
   * Returns `undefined` if the entry or the mark is damaged and was set aside. `state`: the state that the index
   * implies.
   */
  #markOf(key: Buffer, state: 'ready' | undefined): WaitingMark | undefined {
    const { number } = this.#queue;
    const seq = seqOf(key);
    const found = this.#book.sound(() => readWaiting(this.#book.kv, number, seq));
    if (found === undefined) setAside(this.#book, this.#queue, seq, state ?? this.#stateOfDue(seq));
    else if (isTrue(key, number, seq, found.value)) return found.value;
    else removeEntry(this.#book, key);
    return undefined;
  }

  /** The state of a job whose mark is damaged. Delayed jobs and retries look alike. */
  #stateOfDue(seq: number): 'parked' | 'retrying' | 'delayed' {
    const { number, head } = this.#queue;
    if (keysIn(this.#book.kv, rangeOf('P', number)).some((key) => seqOf(key) === seq)) return 'parked';
    return head.retrying > 0 ? 'retrying' : 'delayed';
  }
}
