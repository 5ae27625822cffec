// Jobs: the state of one, the list, their progress (PD-38, QUE-2), and the groups of FIFO queues (QUE-4).

import type { BuiltinAnswers, ShownJob } from '../../console/api/builtin-answers.ts';
import { Refusal, readPayload } from '../../core/calls/refusal.ts';
import { isErrorMeant } from '../../core/queue/error-groups.ts';
import { shownName } from '../../core/queue/queue-names.ts';
import type { JobRow } from '../../core/queue/shapes.ts';
import { validateGroups, validateJob, validateJobs, validateProgress } from '../../generated/module-payloads.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { AnyBuiltin, RawBuiltinDefinition } from '../../router/builtin.ts';
import { outcomeOf } from '../../router/calls/call.ts';
import { type JobList, needed } from './adapters/capabilities.ts';
import type { QueueAnswers } from './function-answers.ts';
import { innerNames, type JobsPayload, namedQueue, type QueueFunctionContext } from './function-payloads.ts';
import { jobElsewhere, reportProgressElsewhere } from './jobs-elsewhere.ts';

const PROGRESS_BYTES_MAX = 4_096;
const JOBS_LISTED_DEFAULT = 100;
const JOBS_LISTED_MAX = 1_000;
/** The limit of one call, regardless of the filter: the next call continues there. */
const PAGES_LOOKED_AT_MAX = 10;
const PAGE_ROWS = 500;
const GROUPS_LISTED_DEFAULT = 100;
const GROUPS_LISTED_MAX = 1_000;

export function jobFunctions(context: QueueFunctionContext): AnyBuiltin[] {
  return [
    {
      id: 'engine::queue::job',
      description: 'Returns the state of a job by its receipt',
      async handle(payload, { isRelayed }) {
        const { messageReceiptId: id } = readPayload('engine::queue::job', validateJob, payload);
        const { finished, running, router } = context;
        const row = finished.find(id, router.nowMs) ?? (await findJob(id, context));
        const mayBeElsewhere = row === null || (row.state === 'running' && !running.has(id));
        const found = mayBeElsewhere && isRelayed !== true ? await jobElsewhere(router, id) : undefined;
        if (found !== undefined) return found;
        if (row !== null) return shown(row, context);
        throw new Refusal('NOT_FOUND', `There is no job with the receipt ${id}, or it ended long ago`);
      },
    },
    payload(context),
    {
      id: 'engine::queue::jobs',
      description: 'Lists the jobs of a queue in the order in which they were enqueued, page by page',
      async handle(payload): Promise<BuiltinAnswers['engine::queue::jobs']> {
        return await listJobs(readPayload('engine::queue::jobs', validateJobs, payload), context);
      },
    },
    {
      id: 'engine::queue::progress',
      description: 'Reports the progress of a job, called by its handler; shown with the job',
      handle(payload, { isRelayed }): Answered<'engine::queue::progress'> {
        const { messageReceiptId: id, value } = readPayload('engine::queue::progress', validateProgress, payload);
        const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
        if (bytes > PROGRESS_BYTES_MAX) {
          throw new Refusal('PAYLOAD_TOO_LARGE', `The progress has ${bytes} bytes, the limit is ${PROGRESS_BYTES_MAX}`);
        }
        const attempt = context.running.get(id);
        if (attempt === undefined) return isRelayed === true ? notRunning(id) : progressElsewhere(context, id, value);
        attempt.progress = value;
        return null;
      },
    },
  ];
}

type Answered<Id extends keyof QueueAnswers> = QueueAnswers[Id] | Promise<QueueAnswers[Id]>;

/** The handler is connected to this engine, and another one has the job. */
async function progressElsewhere({ router }: QueueFunctionContext, id: string, value: unknown): Promise<null> {
  return (await reportProgressElsewhere(router, id, value)) ? null : notRunning(id);
}

function notRunning(id: string): never {
  throw new Refusal('NOT_FOUND', `No job with the receipt ${id} runs now`);
}

/** The value of its group is in the payload, in a field that its queue knows. */
async function findJob(id: string, { adapter, queues }: QueueFunctionContext): Promise<JobRow | null> {
  const lookup = needed(adapter, 'jobLookup');
  const row = await lookup.find(id);
  const field = row === null ? undefined : queues.find(row.queue)?.settings.rules.groupField;
  return field === undefined ? row : await lookup.find(id, field);
}

/** Returned as it was enqueued: it is never parsed here. */
function payload({ adapter }: QueueFunctionContext): RawBuiltinDefinition {
  const id = 'engine::queue::job_payload';
  return {
    id,
    description: 'Returns the payload of an unfinished job by its receipt',
    handleRaw(given, _call, done) {
      const text = given?.asText();
      const input = text === undefined ? {} : parseRawJson(text);
      const { messageReceiptId: receipt } = readPayload(id, validateJob, input);
      needed(adapter, 'payloads')
        .read(receipt)
        .then(
          (bytes) => {
            if (bytes !== undefined) return done({ result: Payload.ofBytes(Buffer.from(bytes), 0, bytes.length) });
            const words = `There is no job with the receipt ${receipt}, or it is done`;
            done(outcomeOf(new Refusal('NOT_FOUND', words)));
          },
          (error: unknown) =>
            done(outcomeOf(error instanceof Refusal ? error : new Refusal('STORAGE_UNAVAILABLE', String(error)))),
        );
    },
  };
}

/** Queue by queue; `next_cursor` is null when all of them have been searched. */
async function listJobs(input: JobsPayload, context: QueueFunctionContext) {
  const list = needed(context.adapter, 'jobList');
  const queues = innerNames(namedQueue(input), context);
  const limit = Math.min(JOBS_LISTED_MAX, Math.max(1, Math.trunc(input.limit ?? JOBS_LISTED_DEFAULT)));
  let { index, after } = readCursor(input.cursor);
  const items: ShownJob[] = [];
  for (let pages = 0; pages < PAGES_LOOKED_AT_MAX && items.length < limit; pages++) {
    const queue = queues[index];
    if (queue === undefined) break;
    const { groupField } = context.queues.find(queue)?.settings.rules ?? {};
    const { rows, next } = await list.page({
      queue,
      ...(after !== undefined && { after }),
      ...(input.text !== undefined && input.text !== null && { text: input.text }),
      ...(groupField !== undefined && { groupField }),
      limit: isFiltered(input) ? PAGE_ROWS : limit - items.length,
    });
    const wanted = rows.filter((row) => isWanted(row, input) && isTextIn(row, input, list));
    const taken = wanted.slice(0, limit - items.length);
    items.push(...taken.map((row) => shown(row, context)));
    after = taken.length < wanted.length ? taken.at(-1)?.messageReceiptId : next;
    if (after === undefined) index++;
  }
  return { items, next_cursor: index < queues.length ? JSON.stringify([index, after ?? null]) : null };
}

/** The queue of a topic, and the job in it to continue after. */
function readCursor(cursor: string | null | undefined): { index: number; after: string | undefined } {
  if (cursor === undefined || cursor === null || cursor === '') return { index: 0, after: undefined };
  const [, index, after] = /^\[(\d{1,6}),(?:null|"([\w:.-]{1,100})")\]$/.exec(cursor) ?? [];
  if (index === undefined)
    throw new Refusal('BAD_REQUEST', 'The cursor is invalid: use `next_cursor` of engine::queue::jobs');
  return { index: Number(index), after };
}

function isFiltered({ state, function_id, attempt_min, error, text, group }: JobsPayload): boolean {
  return [state, function_id, attempt_min, error, text, group].some((value) => value !== undefined && value !== null);
}

function isWanted(row: JobRow, { state, function_id, attempt_min, error, group }: JobsPayload): boolean {
  return (
    isGroupMeant(row.group, group ?? undefined) &&
    row.state === (state ?? row.state) &&
    row.function_id === (function_id ?? row.function_id) &&
    row.attempt >= (attempt_min ?? 0) &&
    isErrorMeant(row.error ?? '', error ?? '')
  );
}

/** Only where the adapter has not searched payloads itself. */
function isTextIn({ messageReceiptId: id, error }: JobRow, { text }: JobsPayload, list: JobList): boolean {
  if (text === undefined || text === null || list.searchesPayloads) return true;
  return id.includes(text) || error?.toLowerCase().includes(text.toLowerCase()) === true;
}

/** A text may be given with or without its quotation marks. */
function isGroupMeant(json: string | undefined, wanted: string | undefined): boolean {
  return wanted === undefined || json === wanted || json === JSON.stringify(wanted);
}

/** A job of a topic is shown under the topic, and with its last reported progress. */
function shown(row: JobRow, { running }: QueueFunctionContext): ShownJob {
  const progress = running.get(row.messageReceiptId)?.progress;
  return { ...row, queue: shownName(row.queue), ...(progress !== undefined && { progress }) };
}

export function groupFunctions({ adapter, queues }: QueueFunctionContext): AnyBuiltin[] {
  const id = 'engine::queue::groups';
  return [
    {
      id,
      description: 'Lists the groups of a FIFO queue that have jobs, each with the job at the head of its line',
      async handle(payload) {
        const input = readPayload(id, validateGroups, payload);
        const queue = namedQueue(input);
        const runner = queues.find(queue);
        if (runner === undefined) throw new Refusal('NOT_FOUND', `There is no queue '${queue}'`);
        if (!runner.settings.isFifo) throw new Refusal('BAD_REQUEST', `The queue '${queue}' is not FIFO`);
        const list = needed(adapter, 'groups');
        const limit = Math.min(GROUPS_LISTED_MAX, Math.max(1, Math.trunc(input.limit ?? GROUPS_LISTED_DEFAULT)));
        const { groupField } = runner.settings.rules;
        const { groups, hasMore } = await list.page({
          queue,
          limit,
          ...(groupField !== undefined && { groupField }),
        });
        return { groups, complete: !hasMore };
      },
    },
  ];
}
