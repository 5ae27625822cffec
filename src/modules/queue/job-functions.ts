// Single jobs: the state of one, the list, and their progress (PD-38, QUE-2).

import type { BuiltinAnswers, ShownJob } from '../../console-api/builtin-answers.ts';
import { readPayload } from '../../core/calls/read-payload.ts';
import { Refusal } from '../../core/calls/refusal.ts';
import { isErrorMeant } from '../../core/queue/fold-error.ts';
import type { JobRow } from '../../core/queue/shapes.ts';
import { validateJob, validateJobs, validateProgress } from '../../generated/queue-payloads.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { AnyBuiltin, RawBuiltinDefinition } from '../../router/builtin.ts';
import { outcomeOf } from '../../router/calls/reply.ts';
import type { QueueAdapter } from './adapters/adapter.ts';
import { type FunctionParts, innerNames, namedQueue, shownName } from './function-parts.ts';
import type { JobsPayload } from './payloads.ts';

const PROGRESS_BYTES_MAX = 4_096;
const JOBS_LISTED_DEFAULT = 100;
const JOBS_LISTED_MAX = 1_000;
/** The limit of one call, regardless of the filter: the next call continues there. */
const PAGES_LOOKED_AT_MAX = 10;
const PAGE_ROWS = 500;

export function jobFunctions(parts: FunctionParts): AnyBuiltin[] {
  return [
    {
      id: 'engine::queue::job',
      description: 'Returns the state of a job by its receipt',
      async handle(payload) {
        const { messageReceiptId: id } = readPayload('engine::queue::job', validateJob, payload);
        const row = parts.finished.find(id, parts.router.nowMs) ?? (await findJob(id, parts));
        if (row === null) {
          throw new Refusal('NOT_FOUND', `There is no job with the receipt ${id}, or it ended long ago`);
        }
        return shown(row, parts);
      },
    },
    payload(parts),
    {
      id: 'engine::queue::jobs',
      description: 'Lists the jobs of a queue in the order in which they were enqueued, page by page',
      async handle(payload): Promise<BuiltinAnswers['engine::queue::jobs']> {
        return await listJobs(readPayload('engine::queue::jobs', validateJobs, payload), parts);
      },
    },
    {
      id: 'engine::queue::progress',
      description: 'Reports the progress of a job, called by its handler; shown with the job',
      handle(payload) {
        const { messageReceiptId: id, value } = readPayload('engine::queue::progress', validateProgress, payload);
        const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
        if (bytes > PROGRESS_BYTES_MAX) {
          throw new Refusal('PAYLOAD_TOO_LARGE', `The progress has ${bytes} bytes, the limit is ${PROGRESS_BYTES_MAX}`);
        }
        const attempt = parts.running.get(id);
        if (attempt === undefined) throw new Refusal('NOT_FOUND', `No job with the receipt ${id} runs now`);
        attempt.progress = value;
        return null;
      },
    },
  ];
}

/** The value of its group is in the payload, in a field that its queue knows. */
async function findJob(id: string, { adapter, queues }: FunctionParts): Promise<JobRow | null> {
  const row = await adapter.job(id);
  const field = row === null ? undefined : queues.find(row.queue)?.settings.rules.groupField;
  return field === undefined ? row : await adapter.job(id, field);
}

/** Returned as it was enqueued: it is never parsed here. */
function payload({ adapter }: FunctionParts): RawBuiltinDefinition {
  const id = 'engine::queue::job_payload';
  return {
    id,
    description: 'Returns the payload of an unfinished job by its receipt',
    handleRaw(given, _call, done) {
      const text = given?.asText();
      const input = text === undefined ? {} : parseRawJson(text);
      const { messageReceiptId: receipt } = readPayload(id, validateJob, input);
      if (adapter.payload === undefined) {
        throw new Refusal('NOT_SUPPORTED', `The adapter ${adapter.name} hands payloads to workers only`);
      }
      adapter.payload(receipt).then(
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

/** Queue by queue of a topic; `next_cursor` is null when all of them have been searched. */
async function listJobs(input: JobsPayload, parts: FunctionParts) {
  const queues = innerNames(namedQueue(input), parts);
  const limit = Math.min(JOBS_LISTED_MAX, Math.max(1, Math.trunc(input.limit ?? JOBS_LISTED_DEFAULT)));
  let { index, after } = readCursor(input.cursor);
  const items: ShownJob[] = [];
  for (let pages = 0; pages < PAGES_LOOKED_AT_MAX && items.length < limit; pages++) {
    const queue = queues[index];
    if (queue === undefined) break;
    const { groupField } = parts.queues.find(queue)?.settings.rules ?? {};
    const { rows, next } = await parts.adapter.jobs({
      queue,
      ...(after !== undefined && { after }),
      ...(input.text !== undefined && input.text !== null && { text: input.text }),
      ...(groupField !== undefined && { groupField }),
      limit: isFiltered(input) ? PAGE_ROWS : limit - items.length,
    });
    const wanted = rows.filter((row) => isWanted(row, input) && isTextIn(row, input, parts.adapter));
    const taken = wanted.slice(0, limit - items.length);
    items.push(...taken.map((row) => shown(row, parts)));
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
function isTextIn({ messageReceiptId: id, error }: JobRow, { text }: JobsPayload, adapter: QueueAdapter): boolean {
  if (text === undefined || text === null || adapter.findsInPayloads === true) return true;
  return id.includes(text) || error?.toLowerCase().includes(text.toLowerCase()) === true;
}

/** A text may be given with or without its quotation marks. */
function isGroupMeant(json: string | undefined, wanted: string | undefined): boolean {
  return wanted === undefined || json === wanted || json === JSON.stringify(wanted);
}

/** A job of a topic is shown under the topic, and with its last reported progress. */
function shown(row: JobRow, { running }: FunctionParts): ShownJob {
  const progress = running.get(row.messageReceiptId)?.progress;
  return { ...row, queue: shownName(row.queue), ...(progress !== undefined && { progress }) };
}
