// `queue::migrate`: converts the queues of a store to the form that this version writes, step by step, before any other
// command of queues runs (D10). It leaves nothing unconverted: a job in an unknown form would be lost silently.
//
//  form 1   every job has a record of its own, with one more byte in front of its header; without a state record it
//           is fresh
//  form 2   fresh jobs lie in blocks (`job-records.ts`)
//
// Forms have numbers since there are two. A store without a number may hold jobs of both; the records show which.

import { Refusal } from '../../../core/calls/refusal.ts';
import { QUEUES_FORMAT } from '../../../core/queue/records.ts';
import type { MigrateAnswer } from '../../../core/queue/shapes.ts';
import { isMigrateInput } from '../../../generated/queue-shapes.ts';
import type { Kv } from '../../kv/kv.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { parseAs, toJson } from './encoding.ts';
import { encodeJob, type JobRecord } from './job-records.ts';
import { deadKey, jobKey, rangeOf, runningKey, seqOf, storeHeadKey, waitingKey } from './keys.ts';
import { type OpenQueue, OpenQueues } from './open-queues.ts';
import { enterWait } from './transitions.ts';

/** The limit of one transaction. */
const JOBS_MAX = 500;

export const migrate: StoreCommand = {
  name: 'queue::migrate',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const from = parseAs(bytes, isMigrateInput);
    if (kv.get(storeHeadKey()) === undefined) return { result: toJson(DONE) };
    const queues = new OpenQueues(kv, context);
    const { format = 1 } = queues.store;
    if (format === QUEUES_FORMAT) return { result: toJson(DONE) };
    if (format > QUEUES_FORMAT) {
      const text = `have form ${format}, newer than ${QUEUES_FORMAT}, the newest this version of svc reads`;
      throw new Refusal('STORAGE_CORRUPT', `The queues of this store ${text}. Nothing in them was changed`);
    }
    let lookedAt = 0;
    let seq = from.seq;
    for (let number = from.queue; number < queues.store.nextQueue; number++) {
      const queue = queues.byNumber(number);
      const end = queue === undefined ? undefined : migrateQueue(queues, queue, seq, JOBS_MAX - lookedAt);
      if (end?.next !== undefined) {
        queues.close();
        const answer: MigrateAnswer = { queue: number, seq: end.next, hasMore: true };
        return { result: toJson(answer) };
      }
      lookedAt += end?.lookedAt ?? 0;
      seq = 0;
    }
    queues.store.format = QUEUES_FORMAT;
    queues.close();
    return { result: toJson(DONE) };
  },
};

const DONE: MigrateAnswer = { queue: 0, seq: 0, hasMore: false };

/** `next`: the job to continue from. */
function migrateQueue(queues: OpenQueues, queue: OpenQueue, from: number, limit: number) {
  const { kv } = queues;
  const { number, head } = queue;
  const { end } = rangeOf('J', number);
  const records = [...kv.range(jobKey(number, from), end, { limit: limit + 1 })];
  for (const { key, value } of records.slice(0, limit)) {
    const seq = seqOf(key);
    const record = readFormOne(value);
    if (record === undefined) continue;
    kv.put(jobKey(number, seq), encodeJob(record));
    if (hasStateRecord(kv, number, seq)) continue;
    head.fresh--;
    enterWait(queues, queue, seq, { attempts: 0, deliveries: 0, order: seq, state: 'ready' });
  }
  const next = records[limit];
  return { lookedAt: Math.min(limit, records.length), next: next === undefined ? undefined : seqOf(next.key) };
}

function hasStateRecord(kv: Kv, number: number, seq: number): boolean {
  return [waitingKey, runningKey, deadKey].some((stateKey) => kv.get(stateKey(number, seq)) !== undefined);
}

const FORM_ONE_FACTS_AT = 13;
const FACTS_AT = 12;
const BRACE = 0x7b;

/** Returns `undefined` for form 2, where the facts, which begin with a brace, start one byte earlier. */
function readFormOne(value: Uint8Array): JobRecord | undefined {
  const record = Buffer.from(value.buffer, value.byteOffset, value.length);
  if (record[FACTS_AT] === BRACE) return undefined;
  const end = FORM_ONE_FACTS_AT + record.readUInt32LE(9);
  return {
    enqueuedMs: record.readDoubleLE(0),
    facts: Buffer.from(record.subarray(FORM_ONE_FACTS_AT, end)),
    payload: Buffer.from(record.subarray(end)),
  };
}
