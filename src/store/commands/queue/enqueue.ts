// `queue::enqueue`: the jobs of one turn enter their queues. Each is refused or durable (Q1, Q2).

import { Refusal } from '../../../core/calls/refusal.ts';
import type { JobPast } from '../../../core/queue/records.ts';
import type { EnqueueAnswer, EnqueueRefused, EnqueueRules, JobOptions } from '../../../core/queue/shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { decodeEnqueue, encodeAnswers, type IncomingJob } from './codecs.ts';
import { type GroupValue, readGroup, readPriority } from './group-value.ts';
import { encodeJob } from './job-records.ts';
import {
  digest,
  expiredKey,
  expiredUntil,
  expiryKey,
  idempotencyKey,
  intactEntries,
  jobKey,
  keysIn,
  PRIORITY_MAX,
  rangeOf,
} from './keys.ts';
import { jobsIn, type OpenQueue, OpenQueues } from './open-queues.ts';
import { type Receipt, writeReceipt } from './receipt.ts';
import { lineUp, park } from './transitions.ts';

/** How long a key returns the same receipt (Q3). */
const KEY_MS = 24 * 3_600_000;
export const JOBS_MAX = 10_000_000;

export const enqueue: StoreCommand = {
  name: 'queue::enqueue',
  isWrite: true,
  run(kv, bytes, context) {
    const { groups, isAllOrNone } = decodeEnqueue(bytes);
    const queues = new OpenQueues(kv, context);
    const answers: Enqueued[] = [];
    for (const { queue: name, rules, jobs } of groups) {
      const queue = queues.open(name);
      forgetKeys(queues, queue, jobs.length);
      for (const job of jobs) {
        const answer = enqueueJob(queues, queue, rules, job);
        if (isAllOrNone && 'reason' in answer) throw new Refusal('enqueue_error', answer.message);
        answers.push(answer);
      }
    }
    queues.close();
    return { result: encodeAnswers(answers) };
  },
};

export type Enqueued = Receipt | EnqueueAnswer;

/** Also used by commands that enqueue a job in the transaction of their own change. Takes effect with `close`. */
export function enqueueJob(queues: OpenQueues, queue: OpenQueue, rules: EnqueueRules, job: IncomingJob): Enqueued {
  const known = job.idempotencyKey === undefined ? undefined : receiptUnder(queues, queue, job.idempotencyKey);
  if (known !== undefined) return { id: known };
  const full = fullness(queues, queue, rules);
  if (full !== undefined) return full;
  const { payload } = job;
  const group = groupOf(queue.head.name, rules, payload);
  if (group !== undefined && !group.ok) return { reason: 'GROUP_FIELD', message: group.message };
  const priority = job.priority ?? (rules.priorityField === undefined ? 0 : readPriority(rules.priorityField, payload));
  const { store } = queues;
  const seq = store.nextSeq++;
  const atMs = Math.max(queues.nowMs, store.lastMs);
  store.lastMs = atMs;
  store.jobs++;
  const isFresh = group === undefined && priority === 0 && (job.delayMs ?? 0) === 0 && job.isKept !== true;
  if (isFresh) queue.line.add(seq, atMs, job);
  else {
    queues.kv.put(jobKey(queue.number, seq), encodeJob({ enqueuedMs: atMs, facts: job.facts, payload }));
    const past = { attempts: 0, deliveries: 0, order: seq, priority: Math.min(priority, PRIORITY_MAX) };
    enterNew(queues, queue, seq, group === undefined ? past : { ...past, group: group.digest }, job, rules);
  }
  const receipt = queues.receiptFields(queue, seq, atMs);
  if (job.idempotencyKey !== undefined) remember(queues, queue, job.idempotencyKey, writeReceipt(receipt));
  return receipt;
}

function groupOf(queue: string, { groupField, isOneGroup }: EnqueueRules, payload: Uint8Array): GroupValue | undefined {
  if (isOneGroup === true) return { ok: true, digest: ONE_GROUP };
  return groupField === undefined ? undefined : readGroup(queue, groupField, payload);
}

const ONE_GROUP = digest('').toString('hex');

function enterNew(
  queues: OpenQueues,
  queue: OpenQueue,
  seq: number,
  past: JobPast,
  { delayMs = 0, isKept }: JobOptions,
  { unroutableTtlMs }: EnqueueRules,
): void {
  if (isKept === true) {
    park(queues, queue, seq, { ...past, state: 'parked', dueMs: queues.steadyMs + unroutableTtlMs, isKept: true });
  } else {
    lineUp(queues, queue, seq, past, delayMs === 0 ? undefined : queues.steadyMs + delayMs);
  }
}

function fullness(queues: OpenQueues, { head }: OpenQueue, rules: EnqueueRules): EnqueueRefused | undefined {
  const jobs = jobsIn(head);
  if (jobs >= rules.maxJobs) {
    return { reason: 'QUEUE_FULL', message: `Queue '${head.name}' is full: it holds ${jobs} jobs, its limit` };
  }
  if (head.dead >= rules.maxDeadLetters) {
    const text = `has ${head.dead} dead letters, its limit: redrive, discard or purge some first`;
    return { reason: 'QUEUE_FULL', message: `Queue '${head.name}' takes no jobs: it ${text}` };
  }
  if (queues.store.jobs < JOBS_MAX) return undefined;
  return { reason: 'QUEUE_FULL', message: `The queues of this store hold ${JOBS_MAX} jobs together, the limit` };
}

function receiptUnder({ kv, steadyMs }: OpenQueues, { number }: OpenQueue, key: string): string | undefined {
  const value = kv.get(idempotencyKey(number, key));
  if (value === undefined) return undefined;
  const [until = '', id] = Buffer.from(value).toString().split(' ');
  return Number(until) > steadyMs ? id : undefined;
}

function remember({ kv, steadyMs }: OpenQueues, { number }: OpenQueue, key: string, id: string): void {
  const untilMs = steadyMs + KEY_MS;
  const at = idempotencyKey(number, key);
  kv.put(at, Buffer.from(`${untilMs} ${id}`));
  kv.put(expiryKey(number, untilMs, at), Buffer.alloc(0));
}

/** Removes a few more keys than are added, so that their number does not grow. */
function forgetKeys(queues: OpenQueues, { number }: OpenQueue, added: number): void {
  const { kv, steadyMs } = queues;
  const { start, end } = expiredUntil(number, steadyMs);
  const expiries: Buffer[] = [];
  // A damaged key is removed as well: only the key itself is needed.
  for (const { key } of intactEntries(kv, start, end, (damaged) => expiries.push(Buffer.from(damaged)))) {
    expiries.push(Buffer.from(key));
    if (expiries.length >= 2 * added) break;
  }
  for (const expiry of expiries) {
    kv.remove(expiry);
    const key = expiredKey(number, expiry);
    const found = queues.ifIntact(() => kv.get(key));
    // The key may have been used again since then, with another expiry.
    if (found === undefined && !isStillKept(queues, number, key)) queues.setAside(key);
    const value = found?.value;
    if (value !== undefined && Number(Buffer.from(value).toString().split(' ')[0]) <= steadyMs) kv.remove(key);
  }
}

/** Searches the expiries, because the record of the key is damaged. */
function isStillKept({ kv }: OpenQueues, number: number, key: Buffer): boolean {
  return keysIn(kv, rangeOf('E', number)).some((expiry) => expiredKey(number, expiry).equals(key));
}
