// The queues of a store while one command works on them: heads are read once and written once.

import { createHash } from 'node:crypto';
import type { QueueHead, StoreHead } from '../../core/queue/records.ts';
import type { QueueCounts } from '../../core/queue/shapes.ts';
import { Refusal } from '../../core/refusal.ts';
import { isQueueHead, isStoreHead } from '../../generated/queue-shapes.ts';
import type { CommandWorld } from '../contract.ts';
import type { Kv, KvReader } from '../kv.ts';
import { nameKey, QUEUES_MAX, queueHeadKey, storeHeadKey } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import { writeReceipt } from './receipt.ts';

/** A queue that a command works on. */
export interface OpenQueue {
  readonly number: number;
  readonly head: QueueHead;
}

export class QueueBook {
  readonly kv: Kv;
  readonly nowMs: number;
  readonly #epoch: string;
  readonly #queues = new Map<string, OpenQueue>();
  #store: StoreHead | undefined;

  constructor(kv: Kv, { nowMs, epoch }: CommandWorld) {
    this.kv = kv;
    this.nowMs = nowMs;
    this.#epoch = epoch;
  }

  get store(): StoreHead {
    this.#store ??= readStoreHead(this.kv) ?? newStoreHead(this.#epoch);
    return this.#store;
  }

  /** Made if it is not there. */
  queue(name: string): OpenQueue {
    const known = this.find(name);
    if (known !== undefined) return known;
    const number = this.store.nextQueue++;
    if (number > QUEUES_MAX) throw new Refusal('OVERLOADED', `The store is at its limit of ${QUEUES_MAX} queues`);
    this.kv.put(nameKey(name), Buffer.from(String(number)));
    const queue = { number, head: newQueueHead(name) };
    this.#queues.set(name, queue);
    return queue;
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
    const queue = { number, head };
    this.#queues.set(head.name, queue);
    return queue;
  }

  receiptOf(queue: OpenQueue, seq: number, atMs: number): string {
    return writeReceipt({ atMs, seq, queue: queue.number, salt: this.store.salt });
  }

  /** What the heads say is written. */
  close(): void {
    if (this.#store !== undefined) this.kv.put(storeHeadKey(), toJson(this.#store));
    for (const { number, head } of this.#queues.values()) this.kv.put(queueHeadKey(number), toJson(head));
  }
}

/** All but dead letters. */
export function jobsIn({ fresh, ready, blocked, delayed, retrying, parked, running }: QueueCounts): number {
  return fresh + ready + blocked + delayed + retrying + parked + running;
}

function readStoreHead(kv: KvReader): StoreHead | undefined {
  const value = kv.get(storeHeadKey());
  return value === undefined ? undefined : parseAs(value, isStoreHead);
}

function newStoreHead(epoch: string): StoreHead {
  const salt = createHash('sha256').update(epoch).digest().readUInt16BE(0);
  return { nextSeq: 1, lastMs: 0, nextQueue: 1, jobs: 0, salt };
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
