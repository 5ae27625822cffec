// Read-only views of jobs: one job, a page, the heads of the lines of a FIFO queue.

import { Refusal } from '../../../core/calls/refusal.ts';
import type { JobPast } from '../../../core/queue/records.ts';
import type {
  GroupRow,
  GroupsPage,
  JobInput,
  JobRow,
  JobState,
  JobsInput,
  JobsPage,
} from '../../../core/queue/shapes.ts';
import { isGroupsInput, isJobInput, isJobsInput } from '../../../generated/queue-shapes.ts';
import type { StoreCommand } from '../../thread/contract.ts';
import { parseAs, toJson } from './encoding.ts';
import { groupOf } from './group-value.ts';
import { decodeJob, type JobRecord, readHeader } from './job-records.ts';
import { firstIn, groupInCount, groupLine, jobKey, keysIn, rangeOf, seqOf, stateRecordsFrom } from './keys.ts';
import { type OpenQueue, OpenQueues } from './open-queues.ts';
import { readReceipt } from './receipt.ts';
import { firstRun, readDead, readRunning, readWaiting } from './transitions.ts';

/** One job by its receipt; null if the store no longer has it. */
export const queueJob: StoreCommand = {
  name: 'queue::job',
  isWrite: false,
  run(kv, bytes, context) {
    const input = parseAs(bytes, isJobInput);
    const found = find(new OpenQueues(kv, context), input);
    if (found === undefined) return { result: toJson(null) };
    const { past } = found;
    const row: JobRow = {
      ...rowOf(found),
      ...groupOf(found.record.payload, input.groupField),
      ...(past?.failed !== undefined && { attempts: past.failed }),
      ...(past?.editedMs !== undefined && { edited_at: past.editedMs }),
    };
    return { result: toJson(row) };
  },
};

/** The payload of a job as it was enqueued; nothing if the store no longer has the job. */
export const queuePayload: StoreCommand = {
  name: 'queue::payload',
  isWrite: false,
  run(kv, bytes, context) {
    const found = find(new OpenQueues(kv, context), parseAs(bytes, isJobInput));
    return found === undefined ? {} : { result: Buffer.from(found.record.payload) };
  },
};

/** Jobs of a queue in the order in which they were enqueued, without dead letters. */
export const queueJobs: StoreCommand = {
  name: 'queue::jobs',
  isWrite: false,
  run(kv, bytes, context) {
    const input = parseAs(bytes, isJobsInput);
    const { queue: name, after, limit } = input;
    const queues = new OpenQueues(kv, context);
    const queue = queues.find(name);
    const page: JobsPage = { rows: [] };
    if (queue === undefined) return { result: toJson(page) };
    const from = after === undefined ? 0 : seqAfter(after);
    const withRecord = (['R', 'W'] as const).flatMap((kind) =>
      keysIn(kv, stateRecordsFrom(kind, queue.number, from), { limit }).map(seqOf),
    );
    const seqs = [...queue.line.jobsFrom(from, limit), ...withRecord].sort((one, other) => one - other).slice(0, limit);
    for (const seq of seqs) {
      const job = queues.ifIntact(() => lookAt(queues, queue, seq))?.value;
      if (job === undefined || !holds(job, input)) continue;
      page.rows.push({ ...rowOf(job), ...groupOf(job.record.payload, input.groupField) });
    }
    if (seqs.length === limit) page.next = queues.receiptOf(queue, seqs.at(-1) ?? 0, context.nowMs);
    return { result: toJson(page), damagedRecords: queues.damaged };
  },
};

/** The lines of a FIFO queue, each with its head, which all later jobs of the line wait for (F2). */
export const queueGroups: StoreCommand = {
  name: 'queue::groups',
  isWrite: false,
  run(kv, bytes, context) {
    const { queue: name, groupField, limit } = parseAs(bytes, isGroupsInput);
    const queues = new OpenQueues(kv, context);
    const queue = queues.find(name);
    const page: GroupsPage = { groups: [], hasMore: false };
    if (queue === undefined) return { result: toJson(page) };
    for (const key of keysIn(kv, rangeOf('C', queue.number), { limit: limit + 1 })) {
      if (page.groups.length === limit) {
        page.hasMore = true;
        break;
      }
      const row = queues.ifIntact(() => groupRow(queues, queue, groupInCount(key), groupField))?.value;
      const count = queues.ifIntact(() => kv.get(key))?.value;
      if (row === undefined || count === undefined) continue;
      page.groups.push({ ...row, jobs: Number(Buffer.from(count).toString()) });
    }
    return { result: toJson(page), damagedRecords: queues.damaged };
  },
};

function groupRow(
  queues: OpenQueues,
  queue: OpenQueue,
  group: string,
  field: string | undefined,
): Omit<GroupRow, 'jobs'> | undefined {
  const first = firstIn(queues.kv, groupLine(queue.number, group));
  const job = first && lookAt(queues, queue, seqOf(first));
  if (job === undefined) return undefined;
  return { value: groupOf(job.record.payload, field).group ?? null, head: rowOf(job) };
}

interface LookedAt {
  readonly queue: OpenQueue;
  readonly id: string;
  readonly record: JobRecord;
  readonly state: JobState;
  readonly past: JobPast | undefined;
  /** Wall clock, for people. */
  readonly dueMs: number | undefined;
}

function find(queues: OpenQueues, { id }: JobInput): LookedAt | undefined {
  const receipt = readReceipt(id);
  const queue = receipt === undefined ? undefined : queues.byNumber(receipt.queue);
  const job = receipt === undefined || queue === undefined ? undefined : lookAt(queues, queue, receipt.seq);
  return job?.id === id ? job : undefined;
}

function lookAt(queues: OpenQueues, queue: OpenQueue, seq: number): LookedAt | undefined {
  const { kv } = queues;
  const { number } = queue;
  const value = kv.get(jobKey(number, seq));
  const record = value === undefined ? queue.line.read(seq) : decodeJob(value);
  if (record === undefined) return undefined;
  const running = queue.line.runs(seq) ? firstRun(seq) : readRunning(kv, number, seq);
  const waiting = running === undefined ? readWaiting(kv, number, seq) : undefined;
  const dead = (running ?? waiting) ? undefined : readDead(kv, number, seq);
  return {
    queue,
    id: queues.receiptOf(queue, seq, record.enqueuedMs),
    record,
    state: running !== undefined ? 'running' : dead !== undefined ? 'dead' : wordOf(waiting?.state),
    past: running ?? waiting ?? dead,
    dueMs: waiting?.dueMs === undefined || waiting.state === 'parked' ? undefined : queues.wallAt(waiting.dueMs),
  };
}

function rowOf({ queue, id, record, state, past, dueMs }: LookedAt): JobRow {
  return {
    messageReceiptId: id,
    queue: queue.head.name,
    function_id: readHeader(record.facts).functionId,
    state,
    attempt: (past?.attempts ?? 0) + (state === 'running' ? 1 : 0),
    enqueued_at: record.enqueuedMs,
    size_bytes: record.payload.length,
    ...(dueMs !== undefined && { due_at: dueMs }),
    ...(past?.error !== undefined && { error: past.error }),
  };
}

function holds({ id, record, past }: LookedAt, { text }: JobsInput): boolean {
  if (text === undefined || text === '') return true;
  const wanted = text.toLowerCase();
  if (id.includes(wanted) || past?.error?.toLowerCase().includes(wanted) === true) return true;
  const { buffer, byteOffset, length } = record.payload;
  return Buffer.from(buffer, byteOffset, length).toString('utf8').toLowerCase().includes(wanted);
}

function seqAfter(id: string): number {
  const receipt = readReceipt(id);
  if (receipt === undefined) throw new Refusal('BAD_REQUEST', `'${id}' is not a receipt`);
  return receipt.seq + 1;
}

function wordOf(state: 'ready' | 'blocked' | 'delayed' | 'retrying' | 'parked' | undefined): JobState {
  if (state === 'parked') return 'waiting_for_worker';
  return state === 'delayed' || state === 'retrying' ? state : 'waiting';
}
