// `queue::advance`: how claimed jobs went on, and the claim of the next ones, in one transaction.

import type { JobPast, RunningMark } from '../../core/queue/records.ts';
import type { AdvanceAnswer, AdvanceInput, SettledJob } from '../../core/queue/shapes.ts';
import { isAdvanceInput } from '../../generated/queue-shapes.ts';
import type { StoreCommand } from '../contract.ts';
import { type OpenQueue, QueueBook } from './book.ts';
import { Claim } from './claim.ts';
import { encodeFramed } from './framed.ts';
import { firstNumberOf, jobKey, rangeOf, runningKey } from './keys.ts';
import { parseAs } from './marks.ts';
import { bury, leaveLine, onlyPast, park, place, readRunning } from './places.ts';

export const advance: StoreCommand = {
  name: 'queue::advance',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, world) {
    const input = parseAs(bytes, isAdvanceInput);
    const book = new QueueBook(kv, world);
    const queue = book.queue(input.queue);
    const deadBefore = queue.head.dead;
    let stale = 0;
    for (const job of input.settled) if (!settle(book, queue, job, input)) stale++;
    const claim = new Claim(book, queue, input.deliveriesMax);
    claim.take(input.claim);
    const answer: AdvanceAnswer = {
      jobs: claim.jobs,
      hasMore: hasMore(queue),
      nextDueMs: nextDueMs(book, queue),
      stale,
      died: queue.head.dead - deadBefore,
    };
    book.close();
    return { result: encodeFramed(answer, ...claim.payloads) };
  },
};

export function hasMore({ head }: OpenQueue): boolean {
  return !head.isPaused && head.fresh + head.ready > 0;
}

export function nextDueMs({ kv }: QueueBook, { number, head }: OpenQueue): number | null {
  if (head.delayed + head.retrying + head.parked === 0) return null;
  const { start, end } = rangeOf('D', number);
  const [first] = kv.range(start, end, { limit: 1 });
  return first === undefined ? null : firstNumberOf(first.key);
}

/** False: this hand-over of the job is over already, and another one may be under way (Q8). */
function settle(book: QueueBook, queue: OpenQueue, job: SettledJob, { unroutableTtlMs }: AdvanceInput): boolean {
  const { seq } = job;
  const mark = readRunning(book.kv, queue.number, seq);
  if (mark === undefined || mark.deliveries !== job.token) return false;
  book.kv.remove(runningKey(queue.number, seq));
  queue.head.running--;
  const past = pastOf(mark, job, book.nowMs);
  switch (job.how) {
    case 'done':
      book.kv.remove(jobKey(queue.number, seq));
      book.store.jobs--;
      leaveLine(book, queue, seq, past);
      return true;
    case 'retry':
      place(book, queue, seq, { ...past, state: 'retrying', dueMs: book.nowMs + (job.afterMs ?? 0) });
      return true;
    case 'dead':
      bury(book, queue, seq, past, { reason: job.reason ?? 'failed', error: past.error ?? '' });
      return true;
    case 'park':
      park(book, queue, seq, { ...past, state: 'parked', dueMs: book.nowMs + unroutableTtlMs });
      return true;
    case 'release':
      if (job.afterMs === undefined) place(book, queue, seq, { ...past, state: 'ready' });
      else place(book, queue, seq, { ...past, state: 'delayed', dueMs: book.nowMs + job.afterMs });
      return true;
  }
}

function pastOf(mark: RunningMark, { how, error, isUnsent }: SettledJob, nowMs: number): JobPast {
  const hasFailed = how === 'retry' || how === 'dead';
  return {
    ...onlyPast(mark),
    attempts: mark.attempts + (hasFailed ? 1 : 0),
    deliveries: mark.deliveries - (isUnsent === true ? 1 : 0),
    ...(error !== undefined && { error }),
    ...(hasFailed && { firstFailedMs: mark.firstFailedMs ?? nowMs }),
  };
}
