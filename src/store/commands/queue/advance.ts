// `queue::advance`: records the outcomes of claimed jobs and claims the next ones, in one transaction.

import { type FailedAttempt, withAttempt } from '../../../core/queue/past-attempts.ts';
import type { JobPast } from '../../../core/queue/records.ts';
import type { AdvanceFacts, AdvanceInput, SettledJob } from '../../../core/queue/shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { decodeStep, encodeAdvanced } from './advance-codec.ts';
import { type OpenQueue, QueueBook } from './book.ts';
import { Claim } from './claim.ts';
import { firstIn, restoreEntries } from './indexes.ts';
import { firstNumberOf, jobKey, rangeOf, runningKey } from './keys.ts';
import {
  bury,
  FIRST_TOKEN,
  firstRun,
  leaveBlock,
  leaveLine,
  loseJob,
  onlyPast,
  park,
  place,
  readRunning,
} from './places.ts';

export const advance: StoreCommand = {
  name: 'queue::advance',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const { input, eachDone } = decodeStep(bytes);
    const book = new QueueBook(kv, world);
    const queue = book.queue(input.queue);
    const deadBefore = queue.head.dead;
    let stale = 0;
    eachDone((seq, token) => {
      if (!settleSound(book, queue, { seq, token, how: 'done' }, input)) stale++;
    });
    for (const job of input.settled) if (!settleSound(book, queue, job, input)) stale++;
    const claim = new Claim(book, queue, input.deliveriesMax);
    claim.take(input.claim);
    const dueMs = nextDueMs(book, queue);
    const facts: AdvanceFacts = {
      hasMore: hasMore(queue),
      nextDueMs: dueMs,
      stale,
      died: queue.head.dead - deadBefore,
    };
    book.close();
    return { result: encodeAdvanced(facts, claim.jobs), damagedRecords: book.damaged };
  },
};

function hasMore({ head }: OpenQueue): boolean {
  return !head.isPaused && head.fresh + head.ready > 0;
}

function nextDueMs(book: QueueBook, queue: OpenQueue): number | null {
  const { number, head } = queue;
  if (head.delayed + head.retrying + head.parked === 0) return null;
  const due = rangeOf('D', number);
  if (firstIn(book.kv, due) === undefined) restoreEntries(book, queue);
  const first = firstIn(book.kv, due);
  return first === undefined ? null : book.monotonicAt(firstNumberOf(first));
}

/** A damaged record affects only its own job: the outcomes of the others count (D9). */
function settleSound(book: QueueBook, queue: OpenQueue, job: SettledJob, input: AdvanceInput): boolean {
  try {
    return settle(book, queue, job, input);
  } catch (error) {
    book.noteDamage(error);
    endDamaged(book, queue, job);
    return true;
  }
}

/** The job no longer runs and cannot go on, because its record is unreadable. */
function endDamaged(book: QueueBook, queue: OpenQueue, { seq, how }: SettledJob): void {
  const { number, head, line } = queue;
  if (line.runs(seq)) {
    line.setAside(seq);
    line.leave(seq);
  } else if (book.setAside(runningKey(number, seq))) head.running--;
  if (how === 'done') book.kv.remove(jobKey(number, seq));
  else book.setAside(jobKey(number, seq));
  loseJob(book, queue, seq);
}

/** Returns false if this hand-over is over already; another one may be under way (Q8). */
function settle(book: QueueBook, queue: OpenQueue, job: SettledJob, input: AdvanceInput): boolean {
  const { seq } = job;
  if (queue.line.runs(seq)) {
    if (job.token !== FIRST_TOKEN) return false;
    if (job.how === 'done') {
      queue.line.leave(seq);
      book.store.jobs--;
    } else {
      leaveBlock(book, queue, seq);
      goOn(book, queue, job, firstRun(seq), input);
    }
    return true;
  }
  const mark = readRunning(book.kv, queue.number, seq);
  if (mark === undefined || mark.deliveries !== job.token) return false;
  book.kv.remove(runningKey(queue.number, seq));
  queue.head.running--;
  goOn(book, queue, job, mark, input);
  return true;
}

function goOn(book: QueueBook, queue: OpenQueue, job: SettledJob, run: JobPast, input: AdvanceInput): void {
  const { seq } = job;
  const past = pastOf(run, job, book.nowMs);
  switch (job.how) {
    case 'done':
      book.kv.remove(jobKey(queue.number, seq));
      book.store.jobs--;
      return leaveLine(book, queue, seq, past);
    case 'retry':
      return place(book, queue, seq, { ...past, state: 'retrying', dueMs: book.steadyMs + (job.afterMs ?? 0) });
    case 'dead':
      return bury(book, queue, seq, past, { reason: job.reason ?? 'failed', error: past.error ?? '' });
    case 'park':
      return park(book, queue, seq, { ...past, state: 'parked', dueMs: book.steadyMs + input.unroutableTtlMs });
    case 'release':
      if (job.afterMs === undefined) return place(book, queue, seq, { ...past, state: 'ready' });
      return place(book, queue, seq, { ...past, state: 'delayed', dueMs: book.steadyMs + job.afterMs });
  }
}

function pastOf(mark: JobPast, job: SettledJob, nowMs: number): JobPast {
  const { how, error, isUnsent } = job;
  const hasFailed = how === 'retry' || how === 'dead';
  return {
    ...onlyPast(mark),
    attempts: mark.attempts + (hasFailed ? 1 : 0),
    deliveries: mark.deliveries - (isUnsent === true ? 1 : 0),
    ...(error !== undefined && { error }),
    ...(hasFailed && {
      firstFailedMs: mark.firstFailedMs ?? nowMs,
      failed: withAttempt(mark.failed, failedAttempt(mark.attempts + 1, job, nowMs)),
    }),
  };
}

function failedAttempt(attempt: number, job: SettledJob, nowMs: number): FailedAttempt {
  const { how, afterMs, error = '', worker, traceId } = job;
  return {
    attempt,
    at: nowMs,
    error,
    ...(worker !== undefined && { worker }),
    ...(traceId !== undefined && { trace_id: traceId }),
    ...(how === 'retry' && { delay_ms: afterMs ?? 0 }),
  };
}
