// What the scripts answer, and the operands of outcomes.

import type {
  AdvanceInput,
  DeadListInput,
  DeadRow,
  DeathReason,
  EnqueueAnswer,
  EnqueueRefused,
  JobRow,
  JobState,
  QueueStats,
  TakenJob,
} from '../../../../core/queue/shapes.ts';
import { isJobHeader } from '../../../../generated/queue-shapes.ts';
import { writeReceipt } from '../../../../store/commands/queue/receipt.ts';
import { JsonList } from '../../../../store/thread/json-list.ts';
import type { Advanced } from '../adapter.ts';

/** An answer of Redis. */
export type Reply = unknown;

export class UnreadableReply extends Error {}

export function listIn(reply: Reply): readonly Reply[] {
  if (!Array.isArray(reply)) throw new UnreadableReply(`Redis answered a script with ${typeof reply}`);
  return reply;
}

export function bytesIn(reply: Reply): Buffer {
  if (!Buffer.isBuffer(reply)) throw new UnreadableReply('Redis answered a script without a text');
  return reply;
}

export function textIn(reply: Reply): string {
  return typeof reply === 'number' ? String(reply) : bytesIn(reply).toString('utf8');
}

export function numberIn(reply: Reply): number {
  const number = Number(textIn(reply));
  if (!Number.isFinite(number)) throw new UnreadableReply('Redis answered a script without a number');
  return number;
}

export function outcomeArguments({ settled }: AdvanceInput): string[] {
  return settled.flatMap(({ seq, token, how, afterMs, error, reason, isUnsent }) => [
    String(seq),
    String(token),
    how,
    afterMs === undefined ? '' : String(Math.ceil(afterMs)),
    error ?? '',
    reason ?? '',
    isUnsent === true ? '1' : '',
  ]);
}

/** The number of the last change in the answer of `ADVANCE`, its time, and whether jobs are held back. */
export function positionIn(reply: Reply): {
  readonly number: number;
  readonly isHeldBack: boolean;
  readonly atMs: number;
} {
  const [, , , now, , , , number, isHeldBack] = listIn(reply);
  return { number: numberIn(number), isHeldBack: numberIn(isHeldBack) === 1, atMs: numberIn(now) };
}

/** Converts the time of Redis to the monotonic clock of this engine. */
export function readAdvanced(reply: Reply, salt: number, monotonicMs: number): Advanced {
  const [jobs, hasMore, due, now, stale, died, queue] = listIn(reply);
  return {
    jobs: listIn(jobs).map((job) => readTaken(job, numberIn(queue), salt)),
    hasMore: numberIn(hasMore) === 1,
    nextDueMs: due === null ? null : monotonicMs + numberIn(due) - numberIn(now),
    stale: numberIn(stale),
    died: numberIn(died),
  };
}

function readTaken(reply: Reply, queueNumber: number, salt: number): TakenJob {
  const [seqReply, token, attempt, time, headerReply, payloadReply] = listIn(reply);
  const header: unknown = JSON.parse(textIn(headerReply));
  if (!isJobHeader(header)) throw new UnreadableReply('A job has an unknown shape');
  const [seq, atMs, payload] = [numberIn(seqReply), numberIn(time), bytesIn(payloadReply)];
  return {
    seq,
    token: numberIn(token),
    attempt: numberIn(attempt),
    id: writeReceipt({ atMs, seq, queue: queueNumber, salt }),
    enqueuedMs: atMs,
    facts: header,
    at: 0,
    bytes: payload.length,
    payload,
  };
}

export function readAnswer(reply: Reply, queue: string, salt: number): EnqueueAnswer {
  const [isTaken, ...rest] = listIn(reply);
  if (numberIn(isTaken) === 0) return fullBy(textIn(rest[0]), numberIn(rest[1]), queue);
  const [number, seq, atMs] = rest.map(numberIn);
  return { id: writeReceipt({ queue: number ?? 0, seq: seq ?? 0, atMs: atMs ?? 0, salt }) };
}

function fullBy(what: string, count: number, queue: string): EnqueueRefused {
  const text =
    what === 'jobs'
      ? `Queue '${queue}' is full: it holds ${count} jobs, its limit`
      : what === 'dead'
        ? `Queue '${queue}' takes no jobs: it has ${count} dead letters, its limit: redrive, discard or purge some`
        : `The queues of this Redis hold ${count} jobs together, the limit`;
  return { reason: 'QUEUE_FULL', message: text };
}

export function readStats(reply: Reply): QueueStats {
  const [name, paused, ...rest] = listIn(reply);
  const [ready = 0, blocked = 0, delayed = 0, retrying = 0, parked = 0, running = 0, dead = 0] = rest.map(numberIn);
  const counts = { fresh: ready, ready: 0, blocked, delayed, retrying, parked, running, dead };
  return { queue: textIn(name), isPaused: textIn(paused) === '1', ...counts };
}

export function readJobRow(reply: Reply, queueNumber: number, salt: number): JobRow {
  const [seq, time, functionId, stateReply, attempts, bytes, due, error, queue] = listIn(reply);
  const word = textIn(stateReply);
  const state = STATES[word];
  if (state === undefined) throw new UnreadableReply(`A job is in the state '${word}'`);
  const atMs = numberIn(time);
  return {
    messageReceiptId: writeReceipt({ atMs, seq: numberIn(seq), queue: queueNumber, salt }),
    queue: textIn(queue),
    function_id: textIn(functionId),
    state,
    attempt: numberIn(attempts) + (state === 'running' ? 1 : 0),
    enqueued_at: atMs,
    size_bytes: numberIn(bytes),
    ...(due !== null && state !== 'waiting_for_worker' && { due_at: numberIn(due) }),
    ...(error !== null && { error: textIn(error) }),
  };
}

const STATES: Readonly<Record<string, JobState>> = {
  ready: 'waiting',
  blocked: 'waiting',
  delayed: 'delayed',
  retrying: 'retrying',
  parked: 'waiting_for_worker',
  running: 'running',
  dead: 'dead',
};

/** JSON of dead letters, payloads byte for byte. */
export function deadListOf(reply: Reply, page: DeadListInput, salt: number): Buffer {
  const { offset, limit, withoutPayload = false } = page;
  const list = new JsonList('engine::queue::dlq_messages', { offset, limit, limitOrOneMore: limit });
  const [queueNumber, rows] = listIn(reply);
  for (const row of listIn(rows)) {
    const fields = listIn(row);
    const json = JSON.stringify(deadRowOf(fields, numberIn(queueNumber), salt));
    if (withoutPayload) list.add(Buffer.from(json));
    else list.add(Buffer.from(`${json.slice(0, -1)},"payload":`), bytesIn(fields[10]), BRACE);
  }
  return list.end();
}

const BRACE = Buffer.from('}');

function deadRowOf(fields: readonly Reply[], queue: number, salt: number): DeadRow {
  const [seq, time, functionId, error, reason, died, attempts, deliveries, firstFailed, bytes] = fields;
  const atMs = numberIn(time);
  return {
    id: writeReceipt({ atMs, seq: numberIn(seq), queue, salt }),
    function_id: textIn(functionId),
    error: textIn(error),
    reason: reasonIn(textIn(reason)),
    failed_at: Math.floor(numberIn(died) / 1_000),
    retries: numberIn(attempts),
    deliveries: numberIn(deliveries),
    first_failed_at: Math.floor(numberIn(firstFailed) / 1_000),
    enqueued_at: Math.floor(atMs / 1_000),
    size_bytes: numberIn(bytes),
  };
}

export function reasonIn(word: string): DeathReason {
  const reason = REASONS.find((one) => one === word);
  if (reason === undefined) throw new UnreadableReply(`A dead letter has the reason '${word}'`);
  return reason;
}

const REASONS: readonly DeathReason[] = ['failed', 'fatal', 'poison', 'function_not_found', 'no_subscriber'];

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
