// `queue::advance`: records the outcomes of claimed jobs and claims the next ones, in one transaction. Ready jobs are
// claimed first, then due ones, then fresh ones.

import { type JobPast, type WaitingRecord, withAttempt } from '../../../core/queue/records.ts';
import type { AdvanceInput, AdvanceSummary, FailedAttempt, SettledJob } from '../../../core/queue/shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { type Claimed, decodeStep, encodeAdvanced } from './codecs.ts';
import { toJson } from './encoding.ts';
import { isConsistent, removeEntry, restoreEntries } from './indexes.ts';
import { decodeJob, type JobRecord } from './job-records.ts';
import { dueUntil, firstIn, firstNumberOf, jobKey, keysIn, rangeOf, runningKey, seqOf } from './keys.ts';
import { type OpenQueue, OpenQueues } from './open-queues.ts';
import {
  bury,
  enterWait,
  FIRST_TOKEN,
  firstRun,
  leaveBlock,
  leaveLine,
  leaveWait,
  loseJob,
  onlyPast,
  park,
  readRunning,
  readWaiting,
  setAside,
} from './transitions.ts';

export const advance: StoreCommand = {
  name: 'queue::advance',
  isWrite: true,
  usesReserve: true,
  run(kv, bytes, context) {
    const { input, eachDone } = decodeStep(bytes);
    const queues = new OpenQueues(kv, context);
    const queue = queues.open(input.queue);
    const deadBefore = queue.head.dead;
    let stale = 0;
    eachDone((seq, token) => {
      if (!settleIntact(queues, queue, { seq, token, how: 'done' }, input)) stale++;
    });
    for (const job of input.settled) if (!settleIntact(queues, queue, job, input)) stale++;
    const claim = new Claim(queues, queue, input.deliveriesMax);
    claim.take(input.claim);
    const dueMs = nextDueMs(queues, queue);
    const facts: AdvanceSummary = {
      hasMore: hasMore(queue),
      nextDueMs: dueMs,
      stale,
      died: queue.head.dead - deadBefore,
    };
    queues.close();
    return { result: encodeAdvanced(facts, claim.jobs), damagedRecords: queues.damaged };
  },
};

function hasMore({ head }: OpenQueue): boolean {
  return !head.isPaused && head.fresh + head.ready > 0;
}

function nextDueMs(queues: OpenQueues, queue: OpenQueue): number | null {
  const { number, head } = queue;
  if (head.delayed + head.retrying + head.parked === 0) return null;
  const due = rangeOf('D', number);
  if (firstIn(queues.kv, due) === undefined) restoreEntries(queues, queue);
  const first = firstIn(queues.kv, due);
  return first === undefined ? null : queues.monotonicAt(firstNumberOf(first));
}

/** A damaged record affects only its own job: the outcomes of the others count (D9). */
function settleIntact(queues: OpenQueues, queue: OpenQueue, job: SettledJob, input: AdvanceInput): boolean {
  try {
    return settle(queues, queue, job, input);
  } catch (error) {
    queues.noteDamage(error);
    endDamaged(queues, queue, job);
    return true;
  }
}

/** The job no longer runs and cannot continue, because its record is unreadable. */
function endDamaged(queues: OpenQueues, queue: OpenQueue, { seq, how }: SettledJob): void {
  const { number, head, line } = queue;
  if (line.runs(seq)) {
    line.setAside(seq);
    line.leave(seq);
  } else if (queues.setAside(runningKey(number, seq))) head.running--;
  if (how === 'done') queues.kv.remove(jobKey(number, seq));
  else queues.setAside(jobKey(number, seq));
  loseJob(queues, queue, seq);
}

/** Returns false if this hand-over is over already; another one may be running (Q8). */
function settle(queues: OpenQueues, queue: OpenQueue, job: SettledJob, input: AdvanceInput): boolean {
  const { seq } = job;
  if (queue.line.runs(seq)) {
    if (job.token !== FIRST_TOKEN) return false;
    if (job.how === 'done') {
      queue.line.leave(seq);
      queues.store.jobs--;
    } else {
      leaveBlock(queues, queue, seq);
      goOn(queues, queue, job, firstRun(seq), input);
    }
    return true;
  }
  const record = readRunning(queues.kv, queue.number, seq);
  if (record === undefined || record.deliveries !== job.token) return false;
  queues.kv.remove(runningKey(queue.number, seq));
  queue.head.running--;
  goOn(queues, queue, job, record, input);
  return true;
}

function goOn(queues: OpenQueues, queue: OpenQueue, job: SettledJob, run: JobPast, input: AdvanceInput): void {
  const { seq } = job;
  const past = pastOf(run, job, queues.nowMs);
  switch (job.how) {
    case 'done':
      queues.kv.remove(jobKey(queue.number, seq));
      queues.store.jobs--;
      return leaveLine(queues, queue, seq, past);
    case 'retry':
      return enterWait(queues, queue, seq, { ...past, state: 'retrying', dueMs: queues.steadyMs + (job.afterMs ?? 0) });
    case 'dead':
      return bury(queues, queue, seq, past, { reason: job.reason ?? 'failed', error: past.error ?? '' });
    case 'park':
      return park(queues, queue, seq, { ...past, state: 'parked', dueMs: queues.steadyMs + input.unroutableTtlMs });
    case 'release':
      if (job.afterMs === undefined) return enterWait(queues, queue, seq, { ...past, state: 'ready' });
      return enterWait(queues, queue, seq, { ...past, state: 'delayed', dueMs: queues.steadyMs + job.afterMs });
  }
}

function pastOf(record: JobPast, job: SettledJob, nowMs: number): JobPast {
  const { how, error, isUnsent } = job;
  const hasFailed = how === 'retry' || how === 'dead';
  return {
    ...onlyPast(record),
    attempts: record.attempts + (hasFailed ? 1 : 0),
    deliveries: record.deliveries - (isUnsent === true ? 1 : 0),
    ...(error !== undefined && { error }),
    ...(hasFailed && {
      firstFailedMs: record.firstFailedMs ?? nowMs,
      failed: withAttempt(record.failed, failedAttempt(record.attempts + 1, job, nowMs)),
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

/** The limit of one transaction, including jobs that are skipped or expire, because other commands wait for it. */
const LOOKED_AT_MAX = 1_000;
const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;

export class Claim {
  readonly jobs: Claimed[] = [];
  readonly #queues: OpenQueues;
  readonly #queue: OpenQueue;
  readonly #deliveriesMax: number;
  #bytes = 0;
  #lookedAt = 0;

  constructor(queues: OpenQueues, queue: OpenQueue, deliveriesMax: number) {
    this.#queues = queues;
    this.#queue = queue;
    this.#deliveriesMax = deliveriesMax;
  }

  take(count: number): void {
    const { head } = this.#queue;
    if (!head.isPaused && head.ready > 0) this.#takeReady(count);
    // Jobs expire in a paused queue too.
    if (head.delayed + head.retrying + head.parked > 0) this.#takeDue(count);
    if (!head.isPaused && head.fresh > 0) this.#takeFresh(count);
  }

  #isFull(count: number): boolean {
    return this.jobs.length >= count || this.#bytes >= PAYLOAD_BYTES_MAX || this.#lookedAt >= LOOKED_AT_MAX;
  }

  #takeReady(count: number): void {
    const { kv } = this.#queues;
    const { number, head } = this.#queue;
    const ready = rangeOf('A', number);
    if (this.#isFull(count)) return;
    for (const key of keysIn(kv, ready, { limit: count - this.jobs.length })) {
      if (this.#isFull(count)) return;
      const record = this.#recordIn(key, 'ready');
      if (record !== undefined) this.#takeWaiting(seqOf(key), record);
    }
    if (head.ready > 0 && firstIn(kv, ready) === undefined) restoreEntries(this.#queues, this.#queue);
  }

  /** Looks beyond what it takes only while jobs are parked, which may have expired. */
  #takeDue(count: number): void {
    const { number, head } = this.#queue;
    const due = dueUntil(number, this.#queues.steadyMs);
    const limit = head.parked > 0 ? LOOKED_AT_MAX : head.isPaused ? 0 : Math.max(0, count - this.jobs.length);
    if (limit === 0) return;
    for (const key of keysIn(this.#queues.kv, due, { limit })) {
      const record = this.#recordIn(key, undefined);
      if (record === undefined) continue;
      const seq = seqOf(key);
      if (record.state === 'parked') this.#expire(seq, record);
      else if (!this.#isFull(count) && !this.#queue.head.isPaused) this.#takeWaiting(seq, record);
      else if (this.#lookedAt >= LOOKED_AT_MAX) return;
    }
  }

  #takeFresh(count: number): void {
    if (this.#isFull(count)) return;
    this.#queue.line.take((seq, record) => {
      this.#lookedAt++;
      this.#add(seq, record, firstRun(seq));
      return !this.#isFull(count);
    });
  }

  #takeWaiting(seq: number, record: WaitingRecord): void {
    this.#lookedAt++;
    const found = this.#queues.ifIntact(() => this.#recordOf(seq));
    if (found === undefined) return setAside(this.#queues, this.#queue, seq, record.state);
    leaveWait(this.#queues, this.#queue, seq, record);
    const past = onlyPast(record);
    if (past.deliveries >= this.#deliveriesMax) {
      const error = `handed over ${past.deliveries} times without an end; last error: ${past.error ?? 'none'}`;
      bury(this.#queues, this.#queue, seq, past, { reason: 'poison', error });
      return;
    }
    this.#run(seq, found.value, past);
  }

  #recordOf(seq: number): JobRecord {
    const value = this.#queues.kv.get(jobKey(this.#queue.number, seq));
    if (value === undefined) throw new Error('A waiting job has no record');
    return decodeJob(value);
  }

  #expire(seq: number, record: WaitingRecord): void {
    this.#lookedAt++;
    const found = this.#queues.ifIntact(() => leaveWait(this.#queues, this.#queue, seq, record));
    if (found === undefined) return setAside(this.#queues, this.#queue, seq, record.state);
    const reason = record.isKept === true ? 'no_subscriber' : 'function_not_found';
    const who = record.isKept === true ? 'no function subscribed to the topic' : 'no worker offered the function';
    bury(this.#queues, this.#queue, seq, onlyPast(record), { reason, error: `${who} in time` });
  }

  #run(seq: number, record: JobRecord, past: JobPast): void {
    const { number, head } = this.#queue;
    const run = { ...past, deliveries: past.deliveries + 1 };
    this.#queues.kv.put(runningKey(number, seq), toJson({ ...run, sinceMs: this.#queues.nowMs }));
    head.running++;
    this.#add(seq, record, run);
  }

  #add(seq: number, record: JobRecord, { attempts, deliveries }: JobPast): void {
    this.#bytes += record.payload.length;
    const receipt = this.#queues.receiptFields(this.#queue, seq, record.enqueuedMs);
    this.jobs.push({ receipt, token: deliveries, attempt: attempts + 1, record });
  }

  /**
   * Returns `undefined` if the entry or the state record is damaged and was set aside. `state`: the state that the
   * index implies.
   */
  #recordIn(key: Buffer, state: 'ready' | undefined): WaitingRecord | undefined {
    const { number } = this.#queue;
    const seq = seqOf(key);
    const found = this.#queues.ifIntact(() => readWaiting(this.#queues.kv, number, seq));
    if (found === undefined) setAside(this.#queues, this.#queue, seq, state ?? this.#stateOfDue(seq));
    else if (isConsistent(key, number, seq, found.value)) return found.value;
    else removeEntry(this.#queues, key);
    return undefined;
  }

  /** The state of a job whose state record is damaged. Delayed jobs and retries look alike. */
  #stateOfDue(seq: number): 'parked' | 'retrying' | 'delayed' {
    const { number, head } = this.#queue;
    if (keysIn(this.#queues.kv, rangeOf('P', number)).some((key) => seqOf(key) === seq)) return 'parked';
    return head.retrying > 0 ? 'retrying' : 'delayed';
  }
}
