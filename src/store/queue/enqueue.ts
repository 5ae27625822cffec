// `queue::enqueue`: jobs of one turn enter their queues, each refused or durable (Q1, Q2).

import type { JobPast } from '../../core/queue/records.ts';
import type { EnqueueAnswer, EnqueueGroup, EnqueueRefused, EnqueueRules, NewJob } from '../../core/queue/shapes.ts';
import { Refusal } from '../../core/refusal.ts';
import { isEnqueueInput } from '../../generated/queue-shapes.ts';
import type { StoreCommand } from '../contract.ts';
import { jobsIn, type OpenQueue, QueueBook } from './book.ts';
import { decodeFramed } from './framed.ts';
import { type GroupValue, readGroup, readPriority } from './group-value.ts';
import { encodeJob } from './job-record.ts';
import { digest, expiredKey, expiredUntil, expiryKey, idempotencyKey, jobKey, PRIORITY_MAX } from './keys.ts';
import { toJson } from './marks.ts';
import { lineUp, park } from './places.ts';

/** How long the same key gives the same receipt (Q3). */
const KEY_MS = 24 * 3_600_000;
export const JOBS_MAX = 10_000_000;

export const enqueue: StoreCommand = {
  name: 'queue::enqueue',
  isWrite: true,
  run(kv, bytes, world) {
    const { head, body } = decodeFramed(bytes);
    if (!isEnqueueInput(head)) throw new Error('The queue module sent jobs of another shape');
    const book = new QueueBook(kv, world);
    const answers: EnqueueAnswer[] = [];
    for (const group of head.groups) {
      const queue = book.queue(group.queue);
      forgetKeys(book, queue, group.jobs.length);
      for (const job of group.jobs) {
        const answer = enqueueJob(book, queue, group, job, body.subarray(job.at, job.at + job.bytes));
        if (head.isAllOrNone && 'reason' in answer) throw new Refusal('enqueue_error', answer.message);
        answers.push(answer);
      }
    }
    book.close();
    return { result: toJson(answers) };
  },
};

/** Also of commands that enqueue a job in the transaction of their own change. */
export function enqueueJob(
  book: QueueBook,
  queue: OpenQueue,
  { rules }: Pick<EnqueueGroup, 'rules'>,
  job: NewJob,
  payload: Uint8Array,
): EnqueueAnswer {
  const known = job.idempotencyKey === undefined ? undefined : receiptUnder(book, queue, job.idempotencyKey);
  if (known !== undefined) return { id: known };
  const full = fullness(book, queue, rules);
  if (full !== undefined) return full;
  const group = groupOf(queue.head.name, rules, payload);
  if (group !== undefined && !group.ok) return { reason: 'GROUP_FIELD', message: group.message };
  const priority = job.priority ?? (rules.priorityField === undefined ? 0 : readPriority(rules.priorityField, payload));
  const seq = book.store.nextSeq++;
  const atMs = Math.max(book.nowMs, book.store.lastMs);
  book.store.lastMs = atMs;
  book.store.jobs++;
  const isFresh = group === undefined && priority === 0 && (job.delayMs ?? 0) === 0 && job.isKept !== true;
  const record = { enqueuedMs: atMs, isPlaced: !isFresh, facts: job.facts, payload: Buffer.from(payload) };
  book.kv.put(jobKey(queue.number, seq), encodeJob(record));
  const past = { attempts: 0, deliveries: 0, order: seq, priority: Math.min(priority, PRIORITY_MAX) };
  if (isFresh) queue.head.fresh++;
  else placeNew(book, queue, seq, group === undefined ? past : { ...past, group: group.digest }, job, rules);
  const id = book.receiptOf(queue, seq, atMs);
  if (job.idempotencyKey !== undefined) remember(book, queue, job.idempotencyKey, id);
  return { id };
}

function groupOf(queue: string, { groupField, isOneGroup }: EnqueueRules, payload: Uint8Array): GroupValue | undefined {
  if (isOneGroup === true) return { ok: true, digest: ONE_GROUP };
  return groupField === undefined ? undefined : readGroup(queue, groupField, payload);
}

const ONE_GROUP = digest('').toString('hex');

function placeNew(
  book: QueueBook,
  queue: OpenQueue,
  seq: number,
  past: JobPast,
  { delayMs = 0, isKept }: NewJob,
  { unroutableTtlMs }: EnqueueRules,
): void {
  if (isKept === true) {
    park(book, queue, seq, { ...past, state: 'parked', dueMs: book.nowMs + unroutableTtlMs, isKept: true });
  } else {
    lineUp(book, queue, seq, past, delayMs === 0 ? undefined : book.nowMs + delayMs);
  }
}

function fullness(book: QueueBook, { head }: OpenQueue, rules: EnqueueRules): EnqueueRefused | undefined {
  const jobs = jobsIn(head);
  if (jobs >= rules.maxJobs) {
    return { reason: 'QUEUE_FULL', message: `Queue '${head.name}' is full: it holds ${jobs} jobs, its limit` };
  }
  if (head.dead >= rules.maxDeadLetters) {
    const text = `has ${head.dead} dead letters, its limit: redrive, discard or purge some first`;
    return { reason: 'QUEUE_FULL', message: `Queue '${head.name}' takes no jobs: it ${text}` };
  }
  if (book.store.jobs < JOBS_MAX) return undefined;
  return { reason: 'QUEUE_FULL', message: `The queues of this store hold ${JOBS_MAX} jobs together, the limit` };
}

function receiptUnder({ kv, nowMs }: QueueBook, { number }: OpenQueue, key: string): string | undefined {
  const value = kv.get(idempotencyKey(number, key));
  if (value === undefined) return undefined;
  const [until = '', id] = Buffer.from(value).toString().split(' ');
  return Number(until) > nowMs ? id : undefined;
}

function remember({ kv, nowMs }: QueueBook, { number }: OpenQueue, key: string, id: string): void {
  const untilMs = nowMs + KEY_MS;
  const at = idempotencyKey(number, key);
  kv.put(at, Buffer.from(`${untilMs} ${id}`));
  kv.put(expiryKey(number, untilMs, at), Buffer.alloc(0));
}

/** A few more than come in, so that what is kept of keys does not grow. */
function forgetKeys({ kv, nowMs }: QueueBook, { number }: OpenQueue, added: number): void {
  const { start, end } = expiredUntil(number, nowMs);
  const expiries = [...kv.range(start, end, { limit: 2 * added })].map(({ key }) => Buffer.from(key));
  for (const expiry of expiries) {
    kv.remove(expiry);
    const key = expiredKey(number, expiry);
    const value = kv.get(key);
    // The key may have been used again since.
    if (value !== undefined && Number(Buffer.from(value).toString().split(' ')[0]) <= nowMs) kv.remove(key);
  }
}
