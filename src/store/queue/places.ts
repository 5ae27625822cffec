// Where a job stands, and its ways from one place to another. Each move keeps marks, indexes and counts in step.
//
//   fresh ──► running ──► gone                 blocked ──► ready (FIFO, when it has become the head of its group)
//     ready ──►   │  ──► retrying ──► running
//   delayed ──►   │  ──► parked ──► ready      parked, retrying, delayed wait in the index of what is due
//                 └────► dead ──► ready (redrive)
//
// Invariants:
//   P1  A job has at most one mark, and stands in exactly the indexes that its mark asks for.
//   P2  Of a FIFO group only the head is ready, due, parked or running; all behind it are blocked (F2).

import type { DeadMark, JobPast, RunningMark, WaitingMark } from '../../core/queue/records.ts';
import type { DeathReason } from '../../core/queue/shapes.ts';
import { isDeadMark, isRunningMark, isWaitingMark } from '../../generated/queue-shapes.ts';
import type { KvReader } from '../kv.ts';
import type { OpenQueue, QueueBook } from './book.ts';
import { decodeJob } from './job-record.ts';
import {
  deadKey,
  deathKey,
  dueKey,
  groupCountKey,
  groupKey,
  groupLine,
  jobKey,
  parkedKey,
  readyKey,
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

/** A job that stands nowhere takes its place among those that wait. */
export function place({ kv }: QueueBook, { number, head }: OpenQueue, seq: number, mark: WaitingMark): void {
  kv.put(waitingKey(number, seq), toJson(mark));
  head[mark.state]++;
  if (mark.state === 'ready') kv.put(readyKey(number, mark.priority ?? 0, mark.order, seq), NOTHING);
  else if (mark.dueMs !== undefined && mark.state !== 'blocked') kv.put(dueKey(number, mark.dueMs, seq), NOTHING);
}

/** The contrary. */
export function unplace(book: QueueBook, queue: OpenQueue, seq: number, mark: WaitingMark): void {
  const { number, head } = queue;
  book.kv.remove(waitingKey(number, seq));
  head[mark.state]--;
  if (mark.state === 'ready') book.kv.remove(readyKey(number, mark.priority ?? 0, mark.order, seq));
  else if (mark.dueMs !== undefined && mark.state !== 'blocked') book.kv.remove(dueKey(number, mark.dueMs, seq));
  if (mark.state === 'parked') book.kv.remove(parkedKey(number, functionOf(book, number, seq), seq));
}

export function park(book: QueueBook, queue: OpenQueue, seq: number, mark: WaitingMark): void {
  place(book, queue, seq, { ...mark, state: 'parked' });
  book.kv.put(parkedKey(queue.number, functionOf(book, queue.number, seq), seq), NOTHING);
}

/** At the end of the line of its group, or into the open where there is none. `notBeforeMs`: it is delayed. */
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

/** The job has left the queue for good, or is a dead letter: the next of its group comes up. */
export function leaveLine(book: QueueBook, queue: OpenQueue, seq: number, { group, order }: JobPast): void {
  if (group === undefined) return;
  const { kv } = book;
  const { number } = queue;
  kv.remove(groupKey(number, group, order, seq));
  const left = groupCount(kv, number, group) - 1;
  if (left <= 0) {
    kv.remove(groupCountKey(number, group));
    return;
  }
  kv.put(groupCountKey(number, group), Buffer.from(String(left)));
  const { start, end } = groupLine(number, group);
  const [next] = kv.range(start, end, { limit: 1 });
  if (next === undefined) throw new Error('A group is shorter than its count');
  const nextSeq = seqOf(next.key);
  const mark = readWaiting(kv, number, nextSeq);
  // Whoever leaves from the middle of the line leaves its head where it is.
  if (mark?.state !== 'blocked') return;
  unplace(book, queue, nextSeq, mark);
  const { dueMs, ...past } = mark;
  const isDelayed = dueMs !== undefined && dueMs > book.nowMs;
  place(book, queue, nextSeq, { ...past, ...(isDelayed && { dueMs }), state: isDelayed ? 'delayed' : 'ready' });
}

/** A job that stands nowhere becomes a dead letter. */
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

/** What a job has behind it, without what its present mark adds. */
export function onlyPast({ attempts, deliveries, order, priority, group, error, firstFailedMs }: JobPast): JobPast {
  return {
    attempts,
    deliveries,
    order,
    ...(priority !== undefined && { priority }),
    ...(group !== undefined && { group }),
    ...(error !== undefined && { error }),
    ...(firstFailedMs !== undefined && { firstFailedMs }),
  };
}

/** How many stand before it. */
function joinGroup({ kv }: QueueBook, { number }: OpenQueue, group: string, order: number, seq: number): number {
  const before = groupCount(kv, number, group);
  kv.put(groupKey(number, group, order, seq), NOTHING);
  kv.put(groupCountKey(number, group), Buffer.from(String(before + 1)));
  return before;
}

function groupCount(kv: KvReader, queue: number, group: string): number {
  const value = kv.get(groupCountKey(queue, group));
  return value === undefined ? 0 : Number(Buffer.from(value).toString());
}

function functionOf({ kv }: QueueBook, queue: number, seq: number): string {
  const record = kv.get(jobKey(queue, seq));
  if (record === undefined) throw new Error('A job that waits has no record');
  return decodeJob(record).facts.functionId;
}
