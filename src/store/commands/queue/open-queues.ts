// The queues that one command works on. Each head is read once and written once.

import { createHash } from 'node:crypto';
import { Refusal } from '../../../core/calls/refusal.ts';
import { QUEUES_FORMAT, type QueueHead, type StoreHead } from '../../../core/queue/records.ts';
import type { QueueCounts } from '../../../core/queue/shapes.ts';
import { steadyTime } from '../../../core/queue/waits.ts';
import { isQueueHead, isStoreHead } from '../../../generated/queue-shapes.ts';
import type { Kv, KvReader } from '../../kv/kv.ts';
import { DamagedRecord, setRecordAside } from '../../kv/record.ts';
import type { LocalContext } from '../../thread/contract.ts';
import { parseAs, toJson } from './encoding.ts';
import { FreshLine } from './fresh-line.ts';
import { firstIn, freeNumbers, nameKey, QUEUES_MAX, queueHeadKey, queueOf, storeHeadKey } from './keys.ts';
import { type Receipt, writeReceipt } from './receipt.ts';

/** A queue that a command works on. */
export interface OpenQueue {
  readonly number: number;
  readonly head: QueueHead;
  readonly line: FreshLine;
}

/** Two clocks read in whole milliseconds differ a little between readings without either being set. */
const CLOCKS_APART_MS = 100;

export class OpenQueues {
  readonly kv: Kv;
  /** Wall clock, for people. Waits use `steadyMs`. */
  readonly nowMs: number;
  readonly #monotonicMs: number;
  readonly #run: string;
  readonly #epoch: string;
  readonly #queues = new Map<string, OpenQueue>();
  #store: StoreHead | undefined;
  #steadyMs: number | undefined;
  #damaged = 0;

  constructor(kv: Kv, { nowMs, monotonicMs, run, epoch }: LocalContext) {
    this.kv = kv;
    this.nowMs = nowMs;
    this.#monotonicMs = monotonicMs;
    this.#run = run;
    this.#epoch = epoch;
  }

  get store(): StoreHead {
    this.#store ??= readStoreHead(this.kv) ?? newStoreHead(this.#epoch);
    return this.#store;
  }

  /** The clock that waits use. */
  get steadyMs(): number {
    this.#steadyMs ??= steadyTime(this.store.time, this.#clocks);
    return this.#steadyMs;
  }

  /** Converts to the wall clock as it is set now: the result is the same until the clock is set. */
  wallAt(steadyMs: number): number {
    const setByMs = this.nowMs - this.steadyMs;
    return steadyMs + Math.round(setByMs / CLOCKS_APART_MS) * CLOCKS_APART_MS;
  }

  /** Converts to the monotonic clock of this run of the engine. */
  monotonicAt(steadyMs: number): number {
    return steadyMs - this.steadyMs + this.#monotonicMs;
  }

  /** Returns the queue; creates it if it does not exist. */
  open(name: string): OpenQueue {
    const known = this.find(name);
    if (known !== undefined) return known;
    const number = this.#takeFreeNumber() ?? this.store.nextQueue++;
    if (number > QUEUES_MAX) throw new Refusal('OVERLOADED', `The store is at its limit of ${QUEUES_MAX} queues`);
    this.kv.put(nameKey(name), Buffer.from(String(number)));
    return this.#open(number, newQueueHead(name));
  }

  #takeFreeNumber(): number | undefined {
    const key = firstIn(this.kv, freeNumbers());
    if (key === undefined) return undefined;
    this.kv.remove(key);
    return queueOf(key);
  }

  find(name: string): OpenQueue | undefined {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const found = this.kv.get(nameKey(name));
    if (found === undefined) return undefined;
    return this.byNumber(Number(Buffer.from(found).toString()));
  }

  byNumber(number: number): OpenQueue | undefined {
    const value = this.kv.get(queueHeadKey(number));
    if (value === undefined) return undefined;
    const head = parseAs(value, isQueueHead);
    const known = this.#queues.get(head.name);
    if (known !== undefined) return known;
    return this.#open(number, head);
  }

  /** The number of damaged records that the command met and skipped. */
  get damaged(): number {
    let sum = this.#damaged;
    for (const { line } of this.#queues.values()) sum += line.damaged;
    return sum;
  }

  /** Reads one job. Returns `undefined`, and notes it, if a record of the job is damaged. */
  ifIntact<T>(read: () => T): { readonly value: T } | undefined {
    try {
      return { value: read() };
    } catch (error) {
      this.noteDamage(error);
      return undefined;
    }
  }

  /** Throws any error that is not a damaged record. */
  noteDamage(error: unknown): void {
    if (!(error instanceof DamagedRecord)) throw error;
    this.countDamaged();
  }

  countDamaged(): void {
    this.#damaged++;
  }

  /** Sets aside a record that nothing refers to any more. Returns whether there was one. */
  setAside(key: Uint8Array): boolean {
    return setRecordAside(this.kv, key, this.nowMs);
  }

  receiptOf(queue: OpenQueue, seq: number, atMs: number): string {
    return writeReceipt(this.receiptFields(queue, seq, atMs));
  }

  receiptFields({ number }: OpenQueue, seq: number, atMs: number): Receipt {
    return { atMs, seq, queue: number, salt: this.store.salt };
  }

  /** Writes the changed heads and lines. */
  close(): void {
    for (const { line } of this.#queues.values()) {
      line.close((key) => this.setAside(key));
      if (line.lost > 0) this.store.jobs -= line.lost;
    }
    if (this.#store !== undefined) {
      this.#store.time = { ...this.#clocks, steadyMs: this.steadyMs };
      this.kv.put(storeHeadKey(), toJson(this.#store));
    }
    for (const { number, head } of this.#queues.values()) this.kv.put(queueHeadKey(number), toJson(head));
  }

  get #clocks() {
    return { run: this.#run, monotonicMs: this.#monotonicMs, wallMs: this.nowMs };
  }

  #open(number: number, head: QueueHead): OpenQueue {
    const queue = { number, head, line: new FreshLine(this.kv, number, head) };
    this.#queues.set(head.name, queue);
    return queue;
  }
}

/** All jobs but dead letters. */
export function jobsIn({ fresh, ready, blocked, delayed, retrying, parked, running }: QueueCounts): number {
  return fresh + ready + blocked + delayed + retrying + parked + running;
}

function readStoreHead(kv: KvReader): StoreHead | undefined {
  const value = kv.get(storeHeadKey());
  return value === undefined ? undefined : parseAs(value, isStoreHead);
}

function newStoreHead(epoch: string): StoreHead {
  const salt = createHash('sha256').update(epoch).digest().readUInt16BE(0);
  return { format: QUEUES_FORMAT, nextSeq: 1, lastMs: 0, nextQueue: 1, jobs: 0, salt };
}

function newQueueHead(name: string): QueueHead {
  return {
    name,
    isPaused: false,
    cursor: 0,
    nextDeath: 1,
    fresh: 0,
    ready: 0,
    blocked: 0,
    delayed: 0,
    retrying: 0,
    parked: 0,
    running: 0,
    dead: 0,
  };
}
