// Claims jobs of one queue: those that were placed first, then what is due, then fresh ones.

import type { JobPast, WaitingMark } from '../../core/queue/records.ts';
import type { ClaimedJob } from '../../core/queue/shapes.ts';
import { isWaitingMark } from '../../generated/queue-shapes.ts';
import type { OpenQueue, QueueBook } from './book.ts';
import { decodeJob, isPlaced, type JobRecord } from './job-record.ts';
import { dueUntil, jobKey, jobsFrom, rangeOf, runningKey, seqOf, waitingKey } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import { bury, onlyPast, unplace } from './places.ts';

/** Of one transaction, jobs that are passed over or expire included: others wait for it. */
const LOOKED_AT_MAX = 1_000;
const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;

export class Claim {
  readonly jobs: ClaimedJob[] = [];
  readonly payloads: Buffer[] = [];
  readonly #book: QueueBook;
  readonly #queue: OpenQueue;
  readonly #deliveriesMax: number;
  #bytes = 0;
  #end = 0;
  #lookedAt = 0;

  constructor(book: QueueBook, queue: OpenQueue, deliveriesMax: number) {
    this.#book = book;
    this.#queue = queue;
    this.#deliveriesMax = deliveriesMax;
  }

  take(count: number): void {
    const { head } = this.#queue;
    if (!head.isPaused && head.ready > 0) this.#takeReady(count);
    // What expires does so in a paused queue too.
    if (head.delayed + head.retrying + head.parked > 0) this.#takeDue(count);
    if (!head.isPaused && head.fresh > 0) this.#takeFresh(count);
  }

  #isFull(count: number): boolean {
    return this.jobs.length >= count || this.#bytes >= PAYLOAD_BYTES_MAX || this.#lookedAt >= LOOKED_AT_MAX;
  }

  #takeReady(count: number): void {
    const { start, end } = rangeOf('A', this.#queue.number);
    for (const seq of this.#seqsOf(start, end, count - this.jobs.length)) {
      if (this.#isFull(count)) return;
      this.#takeWaiting(seq, this.#markOf(seq));
    }
  }

  #takeDue(count: number): void {
    const { start, end } = dueUntil(this.#queue.number, this.#book.nowMs);
    for (const seq of this.#seqsOf(start, end, LOOKED_AT_MAX)) {
      const mark = this.#markOf(seq);
      if (mark.state === 'parked') this.#expire(seq, mark);
      else if (!this.#isFull(count) && !this.#queue.head.isPaused) this.#takeWaiting(seq, mark);
      else if (this.#lookedAt >= LOOKED_AT_MAX) return;
    }
  }

  #takeFresh(count: number): void {
    const { kv } = this.#book;
    const { number, head } = this.#queue;
    const { start, end } = jobsFrom(number, head.cursor);
    const found: { seq: number; record: JobRecord }[] = [];
    for (const { key, value } of kv.range(start, end)) {
      if (this.jobs.length + found.length >= count || this.#isFull(count)) break;
      this.#lookedAt++;
      const seq = seqOf(key);
      head.cursor = seq + 1;
      if (isPlaced(value)) continue;
      const record = decodeJob(value);
      this.#bytes += record.payload.length;
      found.push({ seq, record });
    }
    for (const { seq, record } of found) {
      head.fresh--;
      this.#run(seq, record, { attempts: 0, deliveries: 0, order: seq });
    }
  }

  #takeWaiting(seq: number, mark: WaitingMark): void {
    this.#lookedAt++;
    const value = this.#book.kv.get(jobKey(this.#queue.number, seq));
    if (value === undefined) throw new Error('A job that waits has no record');
    const record = decodeJob(value);
    unplace(this.#book, this.#queue, seq, mark);
    const past = onlyPast(mark);
    if (past.deliveries >= this.#deliveriesMax) {
      const error = `handed over ${past.deliveries} times without an end; last error: ${past.error ?? 'none'}`;
      bury(this.#book, this.#queue, seq, past, { reason: 'poison', error });
      return;
    }
    this.#bytes += record.payload.length;
    this.#run(seq, record, past);
  }

  #expire(seq: number, mark: WaitingMark): void {
    this.#lookedAt++;
    unplace(this.#book, this.#queue, seq, mark);
    const reason = mark.isKept === true ? 'no_subscriber' : 'function_not_found';
    const who = mark.isKept === true ? 'nobody subscribed to the topic' : 'no worker offered the function';
    bury(this.#book, this.#queue, seq, onlyPast(mark), { reason, error: `${who} in time` });
  }

  #run(seq: number, { enqueuedMs, facts, payload }: JobRecord, past: JobPast): void {
    const { number, head } = this.#queue;
    const deliveries = past.deliveries + 1;
    const mark = { ...past, deliveries, sinceMs: this.#book.nowMs };
    this.#book.kv.put(runningKey(number, seq), toJson(mark));
    head.running++;
    const at = this.#end;
    this.#end += payload.length;
    this.jobs.push({
      seq,
      token: deliveries,
      attempt: past.attempts + 1,
      id: this.#book.receiptOf(this.#queue, seq, enqueuedMs),
      enqueuedMs,
      facts,
      at,
      bytes: payload.length,
    });
    this.payloads.push(payload);
  }

  #seqsOf(start: Buffer, end: Buffer, limit: number): number[] {
    return [...this.#book.kv.range(start, end, { limit })].map(({ key }) => seqOf(key));
  }

  #markOf(seq: number): WaitingMark {
    const value = this.#book.kv.get(waitingKey(this.#queue.number, seq));
    if (value === undefined) throw new Error('A job stands in an index without a mark');
    return parseAs(value, isWaitingMark);
  }
}
