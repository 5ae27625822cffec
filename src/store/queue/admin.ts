// What a queue is opened, woken, paused and asked about with.

import type { JobPast } from '../../core/queue/records.ts';
import type { JobRow, JobState, OpenAnswer, QueueStats } from '../../core/queue/shapes.ts';
import { isJobInput, isJobsInput, isOpenInput, isPauseInput, isWakeInput } from '../../generated/queue-shapes.ts';
import type { StoreCommand } from '../contract.ts';
import { nextDueMs } from './advance.ts';
import { jobsIn, type OpenQueue, QueueBook } from './book.ts';
import { decodeJob } from './job-record.ts';
import { allQueueHeads, jobKey, jobsFrom, parkedKey, parkedOf, queueOf, rangeOf, runningKey, seqOf } from './keys.ts';
import { parseAs, toJson } from './marks.ts';
import { onlyPast, place, readDead, readRunning, readWaiting, unplace } from './places.ts';
import { readReceipt } from './receipt.ts';

/** Of one transaction. */
const MOVES_MAX = 500;

/** An engine takes the queue over: what ran when the last one ended goes back to its place, without an attempt (R2). */
export const queueOpen: StoreCommand = {
  name: 'queue::open',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { queue: name, isFifo } = parseAs(bytes, isOpenInput);
    const book = new QueueBook(kv, world);
    const queue = book.queue(name);
    const { head, number } = queue;
    const isOther = head.isFifo !== undefined && head.isFifo !== isFifo;
    if (isOther && jobsIn(head) + head.dead > 0) return { result: toJson({ ...NO_MOVES, isRefused: true }) };
    head.isFifo = isFifo;
    const { start, end } = rangeOf('R', number);
    const seqs = [...kv.range(start, end, { limit: MOVES_MAX })].map(({ key }) => seqOf(key));
    for (const seq of seqs) {
      const mark = readRunning(kv, number, seq);
      if (mark === undefined) throw new Error('A running job has no mark');
      kv.remove(runningKey(number, seq));
      head.running--;
      place(book, queue, seq, { ...onlyPast(mark), state: 'ready' });
    }
    const parkedFunctions = head.parked === 0 ? [] : functionsParked(book, queue);
    book.close();
    const answer: OpenAnswer = {
      moved: seqs.length,
      hasMore: seqs.length === MOVES_MAX,
      isRefused: false,
      parkedFunctions,
    };
    return { result: toJson(answer) };
  },
};

const NO_MOVES = { moved: 0, hasMore: false, parkedFunctions: [] };

/** Each costs one look-up, however many jobs wait for it. */
function functionsParked({ kv }: QueueBook, { number }: OpenQueue): string[] {
  const all = rangeOf('P', number);
  const found: string[] = [];
  for (let { start } = all; ; ) {
    const [first] = kv.range(start, all.end, { limit: 1 });
    if (first === undefined) return found;
    const record = kv.get(jobKey(number, seqOf(first.key)));
    if (record === undefined) throw new Error('A job that waits has no record');
    const { functionId } = decodeJob(record).facts;
    found.push(functionId);
    start = parkedOf(number, functionId).end;
  }
}

/** A worker offers the function: its jobs wait no longer (Q7). */
export const queueWake: StoreCommand = {
  name: 'queue::wake',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { queue: name, functionId } = parseAs(bytes, isWakeInput);
    const book = new QueueBook(kv, world);
    const queue = book.find(name);
    if (queue === undefined) return { result: toJson({ moved: 0, hasMore: false }) };
    const { start, end } = parkedOf(queue.number, functionId);
    const seqs = [...kv.range(start, end, { limit: MOVES_MAX })].map(({ key }) => seqOf(key));
    for (const seq of seqs) {
      const mark = readWaiting(kv, queue.number, seq);
      if (mark === undefined) throw new Error('A parked job has no mark');
      unplace(book, queue, seq, mark);
      kv.remove(parkedKey(queue.number, functionId, seq));
      place(book, queue, seq, { ...onlyPast(mark), state: 'ready' });
    }
    book.close();
    return { result: toJson({ moved: seqs.length, hasMore: seqs.length === MOVES_MAX }) };
  },
};

export const queuePause: StoreCommand = {
  name: 'queue::pause',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { queue: name, isPaused } = parseAs(bytes, isPauseInput);
    const book = new QueueBook(kv, world);
    book.queue(name).head.isPaused = isPaused;
    book.close();
    return {};
  },
};

/** Of every queue there is, one record each. */
export const queueStats: StoreCommand = {
  name: 'queue::stats',
  isWrite: false,
  run(kv, _bytes, world) {
    const book = new QueueBook(kv, world);
    const { start, end } = allQueueHeads();
    const numbers = [...kv.range(start, end)].map(({ key }) => queueOf(key));
    const all = numbers.flatMap((number): QueueStats[] => {
      const queue = book.byNumber(number);
      if (queue === undefined) return [];
      const { name, cursor: _cursor, nextDeath: _nextDeath, isFifo: _isFifo, ...counts } = queue.head;
      return [{ queue: name, ...counts, nextDueMs: nextDueMs(book, queue) }];
    });
    return { result: toJson(all) };
  },
};

/** One job by its receipt; null when the store has it no more. */
export const queueJob: StoreCommand = {
  name: 'queue::job',
  isWrite: false,
  run(kv, bytes, world) {
    const receipt = readReceipt(parseAs(bytes, isJobInput).id);
    const book = new QueueBook(kv, world);
    const queue = receipt === undefined ? undefined : book.byNumber(receipt.queue);
    const row = receipt === undefined || queue === undefined ? undefined : rowOf(book, queue, receipt.seq);
    return { result: toJson(row?.messageReceiptId === parseAs(bytes, isJobInput).id ? row : null) };
  },
};

/** Jobs of a queue in the order in which they were enqueued, dead letters aside. */
export const queueJobs: StoreCommand = {
  name: 'queue::jobs',
  isWrite: false,
  run(kv, bytes, world) {
    const { queue: name, offset, limit } = parseAs(bytes, isJobsInput);
    const book = new QueueBook(kv, world);
    const queue = book.find(name);
    const rows: JobRow[] = [];
    if (queue === undefined) return { result: toJson(rows) };
    const { start, end } = jobsFrom(queue.number, 0);
    for (const { key } of kv.range(start, end, { offset, limit })) {
      const row = rowOf(book, queue, seqOf(key));
      if (row !== undefined && row.state !== 'dead') rows.push(row);
    }
    return { result: toJson(rows) };
  },
};

function rowOf(book: QueueBook, queue: OpenQueue, seq: number): JobRow | undefined {
  const { kv } = book;
  const { number } = queue;
  const value = kv.get(jobKey(number, seq));
  if (value === undefined) return undefined;
  const { enqueuedMs, facts, payload } = decodeJob(value);
  const running = readRunning(kv, number, seq);
  const waiting = running === undefined ? readWaiting(kv, number, seq) : undefined;
  const dead = (running ?? waiting) ? undefined : readDead(kv, number, seq);
  const past: JobPast | undefined = running ?? waiting ?? dead;
  const state: JobState = running !== undefined ? 'running' : dead !== undefined ? 'dead' : wordOf(waiting?.state);
  return {
    messageReceiptId: book.receiptOf(queue, seq, enqueuedMs),
    queue: queue.head.name,
    function_id: facts.functionId,
    state,
    attempt: (past?.attempts ?? 0) + (running === undefined ? 0 : 1),
    enqueued_at: enqueuedMs,
    size_bytes: payload.length,
    ...(waiting?.dueMs !== undefined && waiting.state !== 'parked' && { due_at: waiting.dueMs }),
    ...(past?.error !== undefined && { error: past.error }),
  };
}

function wordOf(state: 'ready' | 'blocked' | 'delayed' | 'retrying' | 'parked' | undefined): JobState {
  if (state === 'parked') return 'waiting_for_worker';
  return state === 'delayed' || state === 'retrying' ? state : 'waiting';
}
