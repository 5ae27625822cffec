// The newest log records, in memory. Bounded by count, bytes and age: the oldest leave first (O1).
//
// Records are in the order of their times, which is nearly the order of arrival: a late record is inserted at its
// place. Each has a number of its own, rising in the order of arrival, with which lists continue where they stopped.

import { type LogRecord, recordBytes } from '../records/records.ts';
import { timeOf } from './log-record.ts';

export interface LogStoreLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
  readonly retentionMs: number;
}

export interface StoredLog {
  readonly id: number;
  readonly record: LogRecord;
  readonly bytes: number;
  readonly timeNano: number;
}

export type LogDropReason = 'limit' | 'retention';

export class LogStore {
  readonly #limits: LogStoreLimits;
  readonly #onDrop: (reason: LogDropReason, count: number) => void;
  #logs: StoredLog[] = [];
  /** Records before it have left. */
  #head = 0;
  #bytes = 0;
  #nextId = 1;

  constructor(limits: LogStoreLimits, onDrop: (reason: LogDropReason, count: number) => void) {
    this.#limits = limits;
    this.#onDrop = onDrop;
  }

  get count(): number {
    return this.#logs.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(record: LogRecord): StoredLog {
    const log: StoredLog = { id: this.#nextId++, record, bytes: recordBytes(record), timeNano: timeOf(record) };
    const position = this.#positionOf(log.timeNano);
    if (position === this.#logs.length) this.#logs.push(log);
    else this.#logs.splice(position, 0, log);
    this.#bytes += log.bytes;
    this.#leave('limit', () => this.count > this.#limits.maxCount || this.#bytes > this.#limits.maxBytes);
    return log;
  }

  /** Drops records that are too old now. */
  expire(nowMs: number): void {
    const endNano = (nowMs - this.#limits.retentionMs) * 1e6;
    this.#leave('retention', ({ timeNano }) => timeNano < endNano);
  }

  /** Newest first. */
  *newestFirst(): Iterable<StoredLog> {
    for (let at = this.#logs.length - 1; at >= this.#head; at--) {
      const log = this.#logs[at];
      if (log !== undefined) yield log;
    }
  }

  /** The records around one record, oldest first; undefined when that record is not there (any more). */
  around(id: number, before: number, after: number): readonly StoredLog[] | undefined {
    const position = this.#logs.findIndex((log, at) => at >= this.#head && log.id === id);
    if (position < 0) return undefined;
    return this.#logs.slice(Math.max(this.#head, position - before), position + after + 1);
  }

  clear(): void {
    this.#logs = [];
    this.#head = 0;
    this.#bytes = 0;
  }

  /** After all records of that time. Senders choose times, so that looking back one by one could take long. */
  #positionOf(timeNano: number): number {
    let low = this.#head;
    let high = this.#logs.length;
    // Nearly every record is the newest.
    if (low === high || (this.#logs[high - 1]?.timeNano ?? 0) <= timeNano) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#logs[middle]?.timeNano ?? 0) <= timeNano) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #leave(reason: LogDropReason, isDue: (oldest: StoredLog) => boolean): void {
    let left = 0;
    for (let oldest = this.#logs[this.#head]; oldest !== undefined && isDue(oldest); oldest = this.#logs[this.#head]) {
      this.#bytes -= oldest.bytes;
      this.#head++;
      left++;
    }
    if (this.#head > 1_024 && this.#head * 2 > this.#logs.length) {
      this.#logs = this.#logs.slice(this.#head);
      this.#head = 0;
    }
    if (left > 0) this.#onDrop(reason, left);
  }
}
