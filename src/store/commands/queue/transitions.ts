// The state of a job, and its moves from one state to another. Each move keeps state records, indexes and counts
// consistent. Jobs that are fresh, or run for the first time from a block, have no state record yet (`fresh-line.ts`).
//
//   fresh ──► running ──► gone                 blocked ──► ready (FIFO, when it has become the head of its group)
//     ready ──►   │  ──► retrying ──► running
//   delayed ──►   │  ──► parked ──► ready      parked, retrying, delayed wait in the index of what is due
//                 └────► dead ──► ready (redrive)
//
// Invariants:
//   - A job has at most one state record, and is in exactly the indexes that its state record requires.
//   - Only the head of a FIFO group is ready, due, parked or running. All later jobs are blocked (F2).

import type { DeadRecord, JobPast, RunningRecord, WaitingRecord } from '../../../core/queue/records.ts';
import type { DeathReason } from '../../../core/queue/shapes.ts';
import { isDeadRecord, isRunningRecord, isWaitingRecord } from '../../../generated/queue-shapes.ts';
import type { KvReader } from '../../kv/kv.ts';
import { DamagedRecord } from '../../kv/record.ts';
import { parseAs, toJson } from './encoding.ts';
import { functionOf, removeEntry, restoreEntries, waitKey } from './indexes.ts';
import { encodeJob } from './job-records.ts';
import {
  deadKey,
  deathKey,
  firstIn,
  groupCountKey,
  groupKey,
  groupLine,
  jobKey,
  keysIn,
  parkedKey,
  placeInLine,
  rangeOf,
  runningKey,
  seqOf,
  waitingKey,
} from './keys.ts';
import type { OpenQueue, OpenQueues } from './open-queues.ts';

const NOTHING = Buffer.alloc(0);

export function readWaiting(kv: KvReader, queue: number, seq: number): WaitingRecord | undefined {
  const value = kv.get(waitingKey(queue, seq));
  return value === undefined ? undefined : parseAs(value, isWaitingRecord);
}

export function readRunning(kv: KvReader, queue: number, seq: number): RunningRecord | undefined {
  const value = kv.get(runningKey(queue, seq));
  return value === undefined ? undefined : parseAs(value, isRunningRecord);
}

export function readDead(kv: KvReader, queue: number, seq: number): DeadRecord | undefined {
  const value = kv.get(deadKey(queue, seq));
  return value === undefined ? undefined : parseAs(value, isDeadRecord);
}

/** The token of the first hand-over of a job from its block. */
export const FIRST_TOKEN = 1;

/** The history of such a job. */
export function firstRun(seq: number): JobPast {
  return { attempts: 0, deliveries: FIRST_TOKEN, order: seq };
}

/** The job gets a record of its own and has no place yet. */
export function leaveBlock({ kv }: OpenQueues, { number, line }: OpenQueue, seq: number): void {
  const record = line.read(seq);
  if (record === undefined) throw new DamagedRecord('was set aside', jobKey(number, seq));
  kv.put(jobKey(number, seq), encodeJob(record));
  line.leave(seq);
}

/** A job without a place is placed among the waiting ones. */
export function enterWait({ kv }: OpenQueues, { number, head }: OpenQueue, seq: number, record: WaitingRecord): void {
  kv.put(waitingKey(number, seq), toJson(record));
  head[record.state]++;
  const key = waitKey(number, seq, record);
  if (key !== undefined) kv.put(key, NOTHING);
}

/** Removes a waiting job from its place. `functionId`: of a parked job, if it is known already. */
export function leaveWait(
  queues: OpenQueues,
  queue: OpenQueue,
  seq: number,
  record: WaitingRecord,
  functionId?: string,
): void {
  const { number, head } = queue;
  // The steps that can fail come first.
  const parked = record.state === 'parked' ? (functionId ?? functionOf(queues, number, seq)) : undefined;
  queues.kv.remove(waitingKey(number, seq));
  head[record.state]--;
  const key = waitKey(number, seq, record);
  if (key !== undefined) queues.kv.remove(key);
  if (parked !== undefined) queues.kv.remove(parkedKey(number, parked, seq));
}

export function park(queues: OpenQueues, queue: OpenQueue, seq: number, record: WaitingRecord): void {
  const key = parkedKey(queue.number, functionOf(queues, queue.number, seq), seq);
  enterWait(queues, queue, seq, { ...record, state: 'parked' });
  queues.kv.put(key, NOTHING);
}

/** Places a job at the end of the line of its group, or among the ungrouped jobs. `notBeforeMs`: it is delayed. */
export function lineUp(
  queues: OpenQueues,
  queue: OpenQueue,
  seq: number,
  past: JobPast,
  notBeforeMs: number | undefined,
): void {
  const delay = notBeforeMs === undefined ? {} : { dueMs: notBeforeMs };
  const isHead = past.group === undefined || joinGroup(queues, queue, past.group, past.order, seq) === 0;
  if (isHead)
    enterWait(queues, queue, seq, { ...past, ...delay, state: notBeforeMs === undefined ? 'ready' : 'delayed' });
  else enterWait(queues, queue, seq, { ...past, ...delay, state: 'blocked' });
}

/** The job has left the queue for good or is a dead letter: the next job of its group becomes the head. */
export function leaveLine(queues: OpenQueues, queue: OpenQueue, seq: number, { group, order }: JobPast): void {
  if (group === undefined) return;
  const { kv } = queues;
  const { number } = queue;
  kv.remove(groupKey(number, group, order, seq));
  const left = groupCount(queues, number, group, 1) - 1;
  if (left <= 0) {
    kv.remove(groupCountKey(number, group));
    return;
  }
  kv.put(groupCountKey(number, group), Buffer.from(String(left)));
  const nextSeq = headOf(queues, queue, group);
  if (nextSeq === undefined) {
    kv.remove(groupCountKey(number, group));
    return;
  }
  const found = queues.ifIntact(() => readWaiting(kv, number, nextSeq));
  if (found === undefined) return setAside(queues, queue, nextSeq, 'blocked');
  const record = found.value;
  // A job that leaves from the middle of the line does not change its head.
  if (record?.state !== 'blocked') return;
  leaveWait(queues, queue, nextSeq, record);
  const { dueMs, ...past } = record;
  const isDelayed = dueMs !== undefined && dueMs > queues.steadyMs;
  enterWait(queues, queue, nextSeq, { ...past, ...(isDelayed && { dueMs }), state: isDelayed ? 'delayed' : 'ready' });
}

/** The first job of a group that is not empty according to its count. */
function headOf(queues: OpenQueues, queue: OpenQueue, group: string): number | undefined {
  const { kv } = queues;
  const { number } = queue;
  const line = groupLine(number, group);
  if (firstIn(kv, line) === undefined) restoreEntries(queues, queue);
  for (;;) {
    const first = firstIn(kv, line);
    if (first === undefined) return undefined;
    const records = [waitingKey(number, seqOf(first)), runningKey(number, seqOf(first))];
    const isThere = records.some((key) => queues.ifIntact(() => kv.get(key) !== undefined)?.value !== false);
    if (isThere) return seqOf(first);
    removeEntry(queues, first);
  }
}

/**
 * A record of a waiting job is damaged. Nothing refers to the job any more, so that it blocks no other job, and its
 * remaining records are set aside (D9). `state`: the state that its index implies, because its state record may be
 * unreadable.
 */
export function setAside(queues: OpenQueues, queue: OpenQueue, seq: number, state: WaitingRecord['state']): void {
  const { number, head } = queue;
  removeIndexes(queues, number, seq);
  queues.setAside(waitingKey(number, seq));
  queues.setAside(jobKey(number, seq));
  head[state]--;
  loseJob(queues, queue, seq);
}

/** Removes a job that has no place any more and whose history is unknown. */
export function loseJob(queues: OpenQueues, queue: OpenQueue, seq: number): void {
  queues.store.jobs--;
  if (queue.head.isFifo !== true) return;
  const found = keysIn(queues.kv, rangeOf('G', queue.number)).find((key) => seqOf(key) === seq);
  if (found !== undefined) leaveLine(queues, queue, seq, { attempts: 0, deliveries: 0, ...placeInLine(found) });
}

/** Searches the indexes, because only the damaged record knows the place. */
function removeIndexes({ kv }: OpenQueues, number: number, seq: number): void {
  for (const kind of ['A', 'D', 'P'] as const) {
    for (const key of keysIn(kv, rangeOf(kind, number))) if (seqOf(key) === seq) kv.remove(key);
  }
}

/** A job without a place becomes a dead letter. */
export function bury(
  queues: OpenQueues,
  queue: OpenQueue,
  seq: number,
  past: JobPast,
  death: { readonly reason: DeathReason; readonly error: string },
): void {
  const { number, head } = queue;
  const record: DeadRecord = { ...onlyPast(past), ...death, death: head.nextDeath++, atMs: queues.nowMs };
  queues.kv.put(deadKey(number, seq), toJson(record));
  queues.kv.put(deathKey(number, record.death, seq), NOTHING);
  head.dead++;
  queues.store.jobs--;
  leaveLine(queues, queue, seq, past);
}

export function unbury({ kv }: OpenQueues, { number, head }: OpenQueue, seq: number, record: DeadRecord): void {
  kv.remove(deadKey(number, seq));
  kv.remove(deathKey(number, record.death, seq));
  head.dead--;
}

/** The history of a job, without the fields of its present state record. */
export function onlyPast(record: JobPast): JobPast {
  const { attempts, deliveries, order, priority, group, error, firstFailedMs, failed, editedMs } = record;
  return {
    attempts,
    deliveries,
    order,
    ...(priority !== undefined && { priority }),
    ...(group !== undefined && { group }),
    ...(error !== undefined && { error }),
    ...(firstFailedMs !== undefined && { firstFailedMs }),
    ...(failed !== undefined && { failed }),
    ...(editedMs !== undefined && { editedMs }),
  };
}

/** Returns how many jobs precede it. */
function joinGroup(queues: OpenQueues, { number }: OpenQueue, group: string, order: number, seq: number): number {
  const { kv } = queues;
  const before = groupCount(queues, number, group);
  kv.put(groupKey(number, group, order, seq), NOTHING);
  kv.put(groupCountKey(number, group), Buffer.from(String(before + 1)));
  return before;
}

/** Counts the line itself only if its count is missing. `gone`: how many have just left it. */
function groupCount(queues: OpenQueues, queue: number, group: string, gone = 0): number {
  const found = queues.ifIntact(() => queues.kv.get(groupCountKey(queue, group)));
  if (found?.value === undefined) return keysIn(queues.kv, groupLine(queue, group)).length + gone;
  return Number(Buffer.from(found.value).toString());
}
