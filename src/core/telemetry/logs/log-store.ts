// Recent log records, in memory, bounded by count, bytes and age (O1).
//
// When room is short the oldest leaves, except for those worth keeping: they move to a lane of their own with a part of
// the room, until newer ones of their kind need it.
//
// Each record has a number of its own, rising in the order of arrival, with which lists continue where they stopped.

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

/** What the store needs of its environment. */
export interface LogStoreContext {
  onDrop(reason: LogDropReason, count: number): void;
  /** Whether the record is kept longer than others. */
  isWorthKeeping(record: LogRecord): boolean;
}

/** The part of the room that kept records may have. */
const KEPT_SHARE = 0.5;

export class LogStore {
  readonly #limits: LogStoreLimits;
  readonly #context: LogStoreContext;
  readonly #recent = new LogLane();
  readonly #kept = new LogLane();
  #nextId = 1;
  #wholeSinceMs: number | undefined;
  #limitedBy: 'maxCount' | 'maxBytes' = 'maxBytes';

  constructor(limits: LogStoreLimits, context: LogStoreContext) {
    this.#limits = limits;
    this.#context = context;
  }

  get count(): number {
    return this.#recent.count + this.#kept.count;
  }

  get bytes(): number {
    return this.#recent.bytes + this.#kept.bytes;
  }

  /** All later records are here, Unix milliseconds; `undefined`: all records are that are not too old. */
  get wholeSinceMs(): number | undefined {
    return this.#wholeSinceMs;
  }

  /** The time of the oldest record that was kept longer than others. */
  get keptSinceMs(): number | undefined {
    const { oldest } = this.#kept;
    return oldest && oldest.timeNano / 1e6;
  }

  /** The limit for which something left last. */
  get limitedBy(): 'maxCount' | 'maxBytes' {
    return this.#limitedBy;
  }

  add(record: LogRecord): StoredLog {
    const log: StoredLog = { id: this.#nextId++, record, bytes: recordBytes(record), timeNano: timeOf(record) };
    this.#recent.add(log);
    this.#makeRoom();
    return log;
  }

  /** Drops records that are too old now. */
  expire(nowMs: number): void {
    const endNano = (nowMs - this.#limits.retentionMs) * 1e6;
    let left = 0;
    for (const lane of [this.#recent, this.#kept]) {
      for (; lane.oldest !== undefined && lane.oldest.timeNano < endNano; left++) lane.take();
    }
    if (left > 0) this.#context.onDrop('retention', left);
  }

  *newestFirst(): Iterable<StoredLog> {
    const kept = this.#kept.newestFirst();
    let older = kept.next();
    for (const log of this.#recent.newestFirst()) {
      for (; !older.done && older.value.timeNano > log.timeNano; older = kept.next()) yield older.value;
      yield log;
    }
    for (; !older.done; older = kept.next()) yield older.value;
  }

  /** The records around one record, oldest first; undefined when that record is not there (any more). */
  around(id: number, before: number, after: number): readonly StoredLog[] | undefined {
    const newestFirst = [...this.newestFirst()];
    const position = newestFirst.findIndex((log) => log.id === id);
    if (position < 0) return undefined;
    return newestFirst.slice(Math.max(0, position - after), position + before + 1).reverse();
  }

  clear(nowMs: number): void {
    this.#wholeSinceMs = nowMs;
    this.#recent.clear();
    this.#kept.clear();
  }

  #makeRoom(): void {
    let left = 0;
    if (this.#isOver(1, this.count, this.bytes)) {
      this.#limitedBy = this.count > this.#limits.maxCount ? 'maxCount' : 'maxBytes';
    }
    while (this.#isOver(1, this.count, this.bytes)) {
      const isKeptFull = this.#isOver(KEPT_SHARE, this.#kept.count, this.#kept.bytes);
      const oldest = (isKeptFull ? this.#kept : this.#recent).take() ?? this.#kept.take();
      if (oldest === undefined) break;
      if (!isKeptFull && this.#recent.count > 0 && this.#context.isWorthKeeping(oldest.record)) {
        this.#kept.add(oldest);
        continue;
      }
      this.#wholeSinceMs = Math.max(this.#wholeSinceMs ?? 0, oldest.timeNano / 1e6);
      left++;
    }
    if (left > 0) this.#context.onDrop('limit', left);
  }

  #isOver(share: number, count: number, bytes: number): boolean {
    return count > this.#limits.maxCount * share || bytes > this.#limits.maxBytes * share;
  }
}

/** Records in the order of their times, which is nearly the order of arrival: a late one is inserted at its place. */
class LogLane {
  #logs: StoredLog[] = [];
  /** Records before it have left. */
  #head = 0;
  #bytes = 0;

  get count(): number {
    return this.#logs.length - this.#head;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get oldest(): StoredLog | undefined {
    return this.#logs[this.#head];
  }

  add(log: StoredLog): void {
    const position = this.#positionOf(log.timeNano);
    if (position === this.#logs.length) this.#logs.push(log);
    else this.#logs.splice(position, 0, log);
    this.#bytes += log.bytes;
  }

  /** Removes the oldest. */
  take(): StoredLog | undefined {
    const { oldest } = this;
    if (oldest === undefined) return undefined;
    this.#head++;
    this.#bytes -= oldest.bytes;
    if (this.#head > 1_024 && this.#head * 2 > this.#logs.length) {
      this.#logs = this.#logs.slice(this.#head);
      this.#head = 0;
    }
    return oldest;
  }

  *newestFirst(): Generator<StoredLog, undefined> {
    for (let at = this.#logs.length - 1; at >= this.#head; at--) {
      const log = this.#logs[at];
      if (log !== undefined) yield log;
    }
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
}
