// The place of a job, and its moves from one place to another. Each move keeps marks, indexes and counts consistent.
// Jobs that are fresh, or run for the first time from a block, have no mark yet (`fresh-line.ts`).
//
//   fresh ──► running ──► gone                 blocked ──► ready (FIFO, when it has become the head of its group)
//     ready ──►   │  ──► retrying ──► running
//   delayed ──►   │  ──► parked ──► ready      parked, retrying, delayed wait in the index of what is due
//                 └────► dead ──► ready (redrive)
//
// Invariants:
//   - A job has at most one mark, and is in exactly the indexes that its mark requires.
//   - Only the head of a FIFO group is ready, due, parked or running. All later jobs are blocked (F2).

import type { DeadMark, JobPast, RunningMark, WaitingMark } from '../../../core/queue/records.ts';
import type { DeathReason } from '../../../core/queue/shapes.ts';
import { isDeadMark, isRunningMark, isWaitingMark } from '../../../generated/queue-shapes.ts';
import type { KvReader } from '../../kv/kv.ts';
import { DamagedRecord } from '../../kv/record.ts';
import type { OpenQueue, QueueBook } from './book.ts';
import { firstIn, functionOf, keysIn, placeKey, removeEntry, restoreEntries } from './indexes.ts';
import { encodeJob } from './job-record.ts';
import {
  deadKey,
  deathKey,
  groupCountKey,
  groupKey,
  groupLine,
  jobKey,
  parkedKey,
  placeInLine,
  rangeOf,
  runningKey,
  seqOf,
  waitingKey,
} from './keys.ts';
import { parseAs, toJson } from './marks.ts';

const NOTHING = Buffer.alloc(0);

export function readWaiting(kv: KvReader, queue: number, seq: number): WaitingMark | undefined {
  const value = kv.get(waitingKey(queue, seq));
  return value === undefined ? undefined : parseAs(value, isWaitingMark);
}

export function readRunning(kv: KvReader, queue: number, seq: number): RunningMark | undefined {
  const value = kv.get(runningKey(queue, seq));
  return value === undefined ? undefined : parseAs(value, isRunningMark);
}

export function readDead(kv: KvReader, queue: number, seq: number): DeadMark | undefined {
  const value = kv.get(deadKey(queue, seq));
  return value === undefined ? undefined : parseAs(value, isDeadMark);
}

/** The token of the first hand-over of a job from its block. */
export const FIRST_TOKEN = 1;

/** The history of such a job. */
export function firstRun(seq: number): JobPast {
  return { attempts: 0, deliveries: FIRST_TOKEN, order: seq };
}

/** The job gets a record of its own and has no place yet. */
export function leaveBlock({ kv }: QueueBook, { number, line }: OpenQueue, seq: number): void {
  const record = line.read(seq);
  if (record === undefined) throw new DamagedRecord('was set aside', jobKey(number, seq));
  kv.put(jobKey(number, seq), encodeJob(record));
  line.leave(seq);
}

/** A job without a place is placed among the waiting ones. */
export function place({ kv }: QueueBook, { number, head }: OpenQueue, seq: number, mark: WaitingMark): void {
  kv.put(waitingKey(number, seq), toJson(mark));
  head[mark.state]++;
  const key = placeKey(number, seq, mark);
  if (key !== undefined) kv.put(key, NOTHING);
}

/** Removes a waiting job from its place. `functionId`: of a parked job, if it is known already. */
export function unplace(book: QueueBook, queue: OpenQueue, seq: number, mark: WaitingMark, functionId?: string): void {
  const { number, head } = queue;
  // The steps that can fail come first.
  const parked = mark.state === 'parked' ? (functionId ?? functionOf(book, number, seq)) : undefined;
  book.kv.remove(waitingKey(number, seq));
  head[mark.state]--;
  const key = placeKey(number, seq, mark);
  if (key !== undefined) book.kv.remove(key);
  if (parked !== undefined) book.kv.remove(parkedKey(number, parked, seq));
}

export function park(book: QueueBook, queue: OpenQueue, seq: number, mark: WaitingMark): void {
  const key = parkedKey(queue.number, functionOf(book, queue.number, seq), seq);
  place(book, queue, seq, { ...mark, state: 'parked' });
  book.kv.put(key, NOTHING);
}

/** Places a job at the end of the line of its group, or among the ungrouped jobs. `notBeforeMs`: it is delayed. */
export function lineUp(
  book: QueueBook,
  queue: OpenQueue,
  seq: number,
  past: JobPast,
  notBeforeMs: number | undefined,
): void {
  const delay = notBeforeMs === undefined ? {} : { dueMs: notBeforeMs };
  const isHead = past.group === undefined || joinGroup(book, queue, past.group, past.order, seq) === 0;
  if (isHead) place(book, queue, seq, { ...past, ...delay, state: notBeforeMs === undefined ? 'ready' : 'delayed' });
  else place(book, queue, seq, { ...past, ...delay, state: 'blocked' });
}

/** The job has left the queue for good or is a dead letter: the next job of its group becomes the head. */
export function leaveLine(book: QueueBook, queue: OpenQueue, seq: number, { group, order }: JobPast): void {
  if (group === undefined) return;
  const { kv } = book;
  const { number } = queue;
  kv.remove(groupKey(number, group, order, seq));
  const left = groupCount(book, number, group, 1) - 1;
  if (left <= 0) {
    kv.remove(groupCountKey(number, group));
    return;
  }
  kv.put(groupCountKey(number, group), Buffer.from(String(left)));
  const nextSeq = headOf(book, queue, group);
  if (nextSeq === undefined) {
    kv.remove(groupCountKey(number, group));
    return;
  }
  const found = book.sound(() => readWaiting(kv, number, nextSeq));
  if (found === undefined) return setAside(book, queue, nextSeq, 'blocked');
  const mark = found.value;
  // A job that leaves from the middle of the line does not change its head.
  if (mark?.state !== 'blocked') return;
  unplace(book, queue, nextSeq, mark);
  const { dueMs, ...past } = mark;
  const isDelayed = dueMs !== undefined && dueMs > book.steadyMs;
  place(book, queue, nextSeq, { ...past, ...(isDelayed && { dueMs }), state: isDelayed ? 'delayed' : 'ready' });
}

/** The first job of a group that is not empty according to its count. */
function headOf(book: QueueBook, queue: OpenQueue, group: string): number | undefined {
  const { kv } = book;
  const { number } = queue;
  const line = groupLine(number, group);
  if (firstIn(kv, line) === undefined) restoreEntries(book, queue);
  for (;;) {
    const first = firstIn(kv, line);
    if (first === undefined) return undefined;
    const marks = [waitingKey(number, seqOf(first)), runningKey(number, seqOf(first))];
    const isThere = marks.some((key) => book.sound(() => kv.get(key) !== undefined)?.value !== false);
    if (isThere) return seqOf(first);
    removeEntry(book, first);
  }
}

/**
 * A record of a waiting job is damaged. Nothing refers to the job any more, so that it blocks no other job, and its
 * remaining records are set aside (D9). `state`: the state that its index implies, because its mark may be unreadable.
 */
export function setAside(book: QueueBook, queue: OpenQueue, seq: number, state: WaitingMark['state']): void {
  const { number, head } = queue;
  removeIndexes(book, number, seq);
  book.setAside(waitingKey(number, seq));
  book.setAside(jobKey(number, seq));
  head[state]--;
  loseJob(book, queue, seq);
}

/** Removes a job that has no place any more and whose history is unknown. */
export function loseJob(book: QueueBook, queue: OpenQueue, seq: number): void {
  book.store.jobs--;
  if (queue.head.isFifo !== true) return;
  const found = keysIn(book.kv, rangeOf('G', queue.number)).find((key) => seqOf(key) === seq);
  if (found !== undefined) leaveLine(book, queue, seq, { attempts: 0, deliveries: 0, ...placeInLine(found) });
}

/** Searches the indexes, because only the damaged record knows the place. */
function removeIndexes({ kv }: QueueBook, number: number, seq: number): void {
  for (const kind of ['A', 'D', 'P'] as const) {
    for (const key of keysIn(kv, rangeOf(kind, number))) if (seqOf(key) === seq) kv.remove(key);
  }
}

/** A job without a place becomes a dead letter. */
export function bury(
  book: QueueBook,
  queue: OpenQueue,
  seq: number,
  past: JobPast,
  death: { readonly reason: DeathReason; readonly error: string },
): void {
  const { number, head } = queue;
  const mark: DeadMark = { ...onlyPast(past), ...death, death: head.nextDeath++, atMs: book.nowMs };
  book.kv.put(deadKey(number, seq), toJson(mark));
  book.kv.put(deathKey(number, mark.death, seq), NOTHING);
  head.dead++;
  book.store.jobs--;
  leaveLine(book, queue, seq, past);
}

export function unbury({ kv }: QueueBook, { number, head }: OpenQueue, seq: number, mark: DeadMark): void {
  kv.remove(deadKey(number, seq));
  kv.remove(deathKey(number, mark.death, seq));
  head.dead--;
}

/** The history of a job, without the fields of its present mark. */
export function onlyPast(mark: JobPast): JobPast {
  const { attempts, deliveries, order, priority, group, error, firstFailedMs, failed, editedMs } = mark;
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
function joinGroup(book: QueueBook, { number }: OpenQueue, group: string, order: number, seq: number): number {
  const { kv } = book;
  const before = groupCount(book, number, group);
  kv.put(groupKey(number, group, order, seq), NOTHING);
  kv.put(groupCountKey(number, group), Buffer.from(String(before + 1)));
  return before;
}

/** Counts the line itself only if its count is missing. `gone`: how many have just left it. */
function groupCount(book: QueueBook, queue: number, group: string, gone = 0): number {
  const found = book.sound(() => book.kv.get(groupCountKey(queue, group)));
  if (found?.value === undefined) return keysIn(book.kv, groupLine(queue, group)).length + gone;
  return Number(Buffer.from(found.value).toString());
}
