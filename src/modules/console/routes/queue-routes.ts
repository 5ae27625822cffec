// Queues and their jobs. Dead letters have their own file.

import type { QueueOverview, ShownJob } from '../../../console/api/builtin-answers.ts';
import type { List } from '../../../console/api/envelope.ts';
import type {
  JobAttempt,
  JobDetail,
  JobRow,
  JobsQuery,
  QueueDetail,
  QueueGroups,
  QueueRow,
} from '../../../console/api/queues.ts';
import { isReceipt } from '../../../generated/console-answers.ts';
import {
  validateEmpty,
  validateJobsQuery,
  validateNoQuery,
  validatePublish,
  validateQueuesQuery,
} from '../../../generated/console-requests.ts';
import { parseRawJson, RAW_NULL, type RawJson } from '../../../protocol/json/byte-string.ts';
import { Payload } from '../../../protocol/payload/payload.ts';
import { CommandInput } from '../../../store/thread/command-input.ts';
import type { ConsoleContext } from '../console-context.ts';
import { answerIn, type BuiltIns, rawOfBytes } from '../sources/built-ins.ts';
import { ApiFailure, failure, failureOfBody, notFound } from '../sources/failure.ts';
import { arrayItems, objectText, RawAnswer } from '../sources/json-text.ts';
import { deadRow, jobMatches, listDead } from './dead-letters.ts';
import { limitOf, matches, pageOf, type SortKeys } from './page.ts';
import { type Route, reading, sending } from './route.ts';

/** How many jobs one page of a filter examines. */
const STRETCHES_MAX = 20;
const GROUPS_MAX = 1_000;

export function queueRoutes(context: ConsoleContext): readonly Route[] {
  const { builtIns } = context;
  return [
    reading('GET /queues', validateQueuesQuery, async ({ query }) => {
      const rows = (await listQueues(context)).filter(({ name }) => matches(query.q, name));
      return pageOf(rows, query, QUEUE_SORTS);
    }),
    reading('GET /queues/{queue}', validateNoQuery, ({ name }) => queueDetail(context, name(0))),
    reading('GET /queues/{queue}/jobs', validateJobsQuery, async ({ name, query }) => {
      await knownQueue(context, name(0));
      if (query.state === 'dead') return await listDead(context, name(0), query);
      return await listJobs(context, name(0), query);
    }),
    reading('GET /queues/{queue}/jobs/{id}', validateNoQuery, ({ name }) => jobDetail(context, name(0), name(1))),
    reading('GET /queues/{queue}/groups', validateNoQuery, async ({ name }) => {
      await knownQueue(context, name(0));
      return await fifoGroups(context, name(0));
    }),
    sending('POST /queues/{queue}/publish', validatePublish, async ({ name, body, raw }) => {
      const queue = await knownQueue(context, name(0));
      const payload = raw('payload') ?? RAW_NULL;
      if (queue.type === null) {
        await builtIns.ofText('svc::durable::publish', objectText({ topic: name(0) }, { data: payload }));
        return { messageReceiptId: null };
      }
      const { function_id: functionId, payload: _payload, ...options } = body;
      if (functionId === undefined) throw failure('BAD_REQUEST', "The body: field 'function_id' must be given");
      const action = { type: 'enqueue' as const, queue: name(0), ...options };
      return await new Promise((resolve, reject) => {
        const call = { functionId, payload: Payload.ofText(payload), depth: 0 };
        context.module.router.deliver(call, action, ({ result, error }) => {
          if (error !== undefined) return reject(failureOfBody(parseRawJson(error.asText() ?? RAW_NULL)));
          const receipt: unknown = parseRawJson(result?.asText() ?? RAW_NULL);
          resolve({ messageReceiptId: isReceipt(receipt) ? receipt.messageReceiptId : null });
        });
      });
    }),
    ...(['pause', 'resume'] as const).map((verb) =>
      sending(`POST /queues/{queue}/${verb}`, validateEmpty, async ({ name }) => {
        await knownQueue(context, name(0));
        await builtIns.value(`engine::queue::${verb}`, { queue: name(0) });
        return { queue: name(0), paused: verb === 'pause' };
      }),
    ),
  ];
}

/** Queues with trouble first. */
const QUEUE_SORTS: SortKeys<QueueRow> = {
  trouble: (row) => -(row.dead * 1_000_000 + (row.retrying ?? 0) * 1_000 + row.waiting_for_worker + Number(row.paused)),
  name: (row) => row.name,
  waiting: (row) => row.waiting,
  running: (row) => row.running,
  dead: (row) => row.dead,
};

export async function listQueues(context: Pick<ConsoleContext, 'builtIns'>): Promise<QueueRow[]> {
  return (await askQueues(context)).map(queueRow);
}

export function askQueues({ builtIns }: Pick<ConsoleContext, 'builtIns'>): Promise<QueueOverview[]> {
  return builtIns.ask('engine::queue::list', {});
}

export async function knownQueue(context: Pick<ConsoleContext, 'builtIns'>, name: string): Promise<QueueOverview> {
  const found = (await askQueues(context)).find((queue) => queue.name === name);
  if (found === undefined) throw notFound('Queue', name);
  return found;
}

export function queueRow(queue: QueueOverview): QueueRow {
  const { enqueued_total, finished_total, failed_total, type, concurrency, ...row } = queue;
  const uncounted = row.not_told.includes('waits') ? { delayed: null, retrying: null } : {};
  return { ...row, ...uncounted, type: type ?? 'topic', concurrency: concurrency === 0 ? null : concurrency };
}

async function queueDetail(context: ConsoleContext, name: string): Promise<QueueDetail> {
  const queue = await knownQueue(context, name);
  const { config } = await context.builtIns.ask('engine::queue::topic_stats', { queue: name });
  return {
    ...queueRow(queue),
    max_retries: config?.max_retries ?? null,
    backoff_ms: config?.backoff_ms ?? null,
    job_timeout_ms: config?.job_timeout_ms ?? null,
    message_group_field: config?.message_group_field ?? null,
  };
}

/** Filters that the engine does not have are applied here. A filter with few matches gives short pages. */
async function listJobs(context: ConsoleContext, queue: string, query: JobsQuery): Promise<List<JobRow>> {
  const limit = limitOf(query.limit);
  const { state, function_id, attempts_min, q, group, ...filter } = query;
  const items: JobRow[] = [];
  let { cursor } = query;
  for (let stretch = 0; stretch < STRETCHES_MAX && items.length < limit; stretch++) {
    const asked = {
      queue,
      limit: limit - items.length,
      ...(state !== undefined && { state }),
      ...(function_id !== undefined && { function_id }),
      ...(attempts_min !== undefined && { attempt_min: attempts_min }),
      ...(q !== undefined && { text: q }),
      ...(group !== undefined && { group }),
      ...(cursor !== undefined && { cursor }),
    };
    const page = await context.builtIns.ask('engine::queue::jobs', asked);
    const rows = page.items.map(jobRow);
    items.push(...rows.filter((row) => jobMatches(row, filter, context.module.router.nowMs)));
    if (page.next_cursor === null) return { items, next_cursor: null, total: null };
    cursor = page.next_cursor;
  }
  return { items, next_cursor: cursor ?? null, total: null };
}

/** A broker lists its dead letters, but reports only the number of waiting jobs. */
async function jobDetail({ builtIns }: ConsoleContext, queue: string, id: string): Promise<RawAnswer> {
  const asked = builtIns.ask('engine::queue::job', { messageReceiptId: id });
  const found = await asked.catch((thrown: unknown) => {
    if (thrown instanceof ApiFailure && thrown.status === 404) return undefined;
    throw thrown;
  });
  const letter = found === undefined || found.state === 'dead' ? await deadLetter(builtIns, queue, id) : undefined;
  const job = found ?? letter?.job ?? (await asked);
  const payload = letter?.payload ?? (await livingPayload(builtIns, job));
  const facts: Omit<JobDetail, 'payload'> = {
    ...(letter?.row ?? jobRow(job)),
    payload_available: payload !== undefined,
    progress: job.progress ?? null,
    finished_at: job.finished_at ?? null,
    edited_at: job.edited_at ?? null,
    attempts: attemptsOf(job),
  };
  return new RawAnswer(objectText({ ...facts }, { payload: payload ?? RAW_NULL }));
}

interface ReadLetter {
  readonly row: JobRow;
  readonly job: ShownJob;
  readonly payload: RawJson;
}

async function deadLetter(builtIns: BuiltIns, queue: string, id: string): Promise<ReadLetter | undefined> {
  const text = await builtIns.text('engine::queue::dlq_messages', { queue, message_id: id, limit: 1 });
  const [letter] = answerIn('engine::queue::dlq_messages', text);
  const [json] = arrayItems(Buffer.from(text, 'latin1'));
  if (letter === undefined || json === undefined) return undefined;
  const payload = new CommandInput('the answer', json).json('payload');
  const row = deadRow(queue, letter);
  const { function_id, attempt, enqueued_at, size_bytes } = row;
  const { error } = letter;
  const job: ShownJob = {
    ...{ messageReceiptId: id, queue, function_id, state: 'dead', attempt, enqueued_at, size_bytes, error },
  };
  return { row, job, payload: payload === undefined ? RAW_NULL : rawOfBytes(payload) };
}

/** Not every store shows it, none shows that of a finished job, and a job may finish at any moment. */
async function livingPayload(builtIns: BuiltIns, { state, messageReceiptId }: ShownJob): Promise<RawJson | undefined> {
  if (state === 'done') return undefined;
  try {
    return await builtIns.text('engine::queue::job_payload', { messageReceiptId });
  } catch (thrown) {
    if (thrown instanceof ApiFailure && ['NOT_SUPPORTED', 'NOT_FOUND'].includes(thrown.error.code)) return undefined;
    throw thrown;
  }
}

/** A broker keeps only the last error. */
function attemptsOf({ attempts, attempt, error }: ShownJob): JobAttempt[] {
  const none = { at: null, worker: null, trace_id: null, delay_ms: null };
  if (attempts === undefined) return error === undefined ? [] : [{ ...none, attempt, error }];
  return attempts.map((one) => ({ ...none, ...one })).reverse();
}

/** The longest wait first, so that stuck groups are seen. */
async function fifoGroups({ builtIns }: ConsoleContext, queue: string): Promise<QueueGroups> {
  const asked = { queue, limit: GROUPS_MAX };
  const { groups, complete } = await builtIns.ask('engine::queue::groups', asked);
  const rows = groups.map(({ value, jobs, head }) => ({ value, jobs, head: { ...jobRow(head), group: value } }));
  return { groups: rows.sort((a, b) => a.head.enqueued_at - b.head.enqueued_at), has_more: !complete };
}

export function jobRow(job: ShownJob): JobRow {
  return {
    id: job.messageReceiptId,
    queue: job.queue,
    function_id: job.function_id,
    state: job.state,
    attempt: job.attempt,
    enqueued_at: job.enqueued_at,
    due_at: job.due_at ?? null,
    size_bytes: job.size_bytes,
    error: job.error ?? null,
    failed_at: null,
    first_failed_at: null,
    reason: null,
    group: job.group ?? null,
  };
}
