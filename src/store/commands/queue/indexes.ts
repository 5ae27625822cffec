// The indexes that lead to the jobs of a queue. An entry is a key without a value. It is consistent if the state record
// of its job agrees with it, so damage to an entry is found when its job is looked up (D9). An entry that leads to no
// such job is removed. A job that no entry leads to any more gets a new one.

import type { WaitingRecord } from '../../../core/queue/records.ts';
import { isWaitingRecord } from '../../../generated/queue-shapes.ts';
import { parseAs } from './encoding.ts';
import { decodeJob, readHeader } from './job-records.ts';
import { dueKey, groupKey, intactEntries, jobKey, parkedKey, rangeOf, readyKey, seqOf } from './keys.ts';
import type { OpenQueue, OpenQueues } from './open-queues.ts';

const NOTHING = Buffer.alloc(0);

/** The index key of a job that waits for its turn or its time. */
export function waitKey(queue: number, seq: number, record: WaitingRecord): Buffer | undefined {
  const { state, dueMs, priority = 0, order } = record;
  if (state === 'ready') return readyKey(queue, priority, order, seq);
  return dueMs === undefined || state === 'blocked' ? undefined : dueKey(queue, dueMs, seq);
}

/** Whether the entry agrees with the state record of the job. */
export function isConsistent(key: Buffer, queue: number, seq: number, record: WaitingRecord | undefined): boolean {
  return record !== undefined && waitKey(queue, seq, record)?.equals(key) === true;
}

/** Removes an entry that leads to no job. */
export function removeEntry(queues: OpenQueues, key: Buffer): void {
  queues.kv.remove(key);
  queues.countDamaged();
}

/** Of a job with a record of its own. */
export function functionOf({ kv }: OpenQueues, queue: number, seq: number): string {
  const record = kv.get(jobKey(queue, seq));
  if (record === undefined) throw new Error('A waiting job has no record');
  return readHeader(decodeJob(record).facts).functionId;
}

/**
 * The counts include jobs that no entry leads to. Looks at every state record of a waiting job, which happens rarely. A
 * job without an intact state record no longer counts.
 */
export function restoreEntries(queues: OpenQueues, queue: OpenQueue): void {
  const { number, head } = queue;
  queues.countDamaged();
  const before = waitingIn(queue);
  Object.assign(head, { ready: 0, blocked: 0, delayed: 0, retrying: 0, parked: 0 });
  const { start, end } = rangeOf('W', number);
  const records: { readonly seq: number; readonly record: WaitingRecord }[] = [];
  const meetDamage = (key: Uint8Array): void => {
    queues.countDamaged();
    queues.setAside(jobKey(number, seqOf(key)));
    queues.setAside(key);
  };
  for (const { key, value } of intactEntries(queues.kv, start, end, meetDamage)) {
    records.push({ seq: seqOf(key), record: parseAs(value, isWaitingRecord) });
  }
  for (const { seq, record } of records) {
    head[record.state]++;
    for (const key of entriesOf(queues, number, seq, record)) if (!isThere(queues, key)) queues.kv.put(key, NOTHING);
  }
  queues.store.jobs -= before - waitingIn(queue);
}

function entriesOf(queues: OpenQueues, queue: number, seq: number, record: WaitingRecord): Buffer[] {
  const wait = waitKey(queue, seq, record);
  const functionId =
    record.state === 'parked' ? queues.ifIntact(() => functionOf(queues, queue, seq))?.value : undefined;
  return [
    ...(wait === undefined ? [] : [wait]),
    ...(functionId === undefined ? [] : [parkedKey(queue, functionId, seq)]),
    ...(record.group === undefined ? [] : [groupKey(queue, record.group, record.order, seq)]),
  ];
}

function isThere(queues: OpenQueues, key: Buffer): boolean {
  return queues.ifIntact(() => queues.kv.get(key))?.value !== undefined;
}

function waitingIn({ head }: OpenQueue): number {
  return head.ready + head.blocked + head.delayed + head.retrying + head.parked;
}
