// One job, by its receipt: looked up, and followed to its end (CLI-21). A job that failed for good is found among the
// dead letters of queues whose adapter, such as a broker, does not report the jobs that are in it.

import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import { isRecord, type JsonRecord, numberIn, textIn } from '../../text/records.ts';
import { quoteForShell } from '../../text/shell.ts';
import { formatDuration } from '../../text/times.ts';
import { isReported, listQueues } from './queues.ts';

const FIRST_POLL_MS = 20;
const POLL_MS_MAX = 500;

export async function followJob(engine: EngineConnection, receipt: string, timeoutMs: number): Promise<JsonRecord> {
  const untilMs = performance.now() + timeoutMs;
  for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(POLL_MS_MAX, waitMs * 2)) {
    const job = await readJob(engine, receipt);
    const state = textIn(job, 'state');
    if (state === 'done' || state === 'dead') return job;
    if (performance.now() + waitMs > untilMs) throw notEnded(receipt, job, timeoutMs);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** While the job is in a broker that does not report its jobs, it counts as waiting. */
async function readJob(engine: EngineConnection, receipt: string): Promise<JsonRecord> {
  try {
    return await findJob(engine, receipt);
  } catch (error) {
    const hiding = isSvcError(error, 'NOT_FOUND') ? await queuesThatHideJobs(engine) : [];
    if (hiding.length === 0) throw error;
    return { messageReceiptId: receipt, state: 'waiting' };
  }
}

function notEnded(receipt: string, job: JsonRecord, timeoutMs: number): CliFailure {
  const [state, queue] = [textIn(job, 'state'), textIn(job, 'queue')];
  return new CliFailure({
    code: 'TIMEOUT',
    message: `The job ${receipt} is ${state} after ${formatDuration(timeoutMs)}.`,
    exitCode: EXIT.timedOut,
    hint: `The job continues. Wait longer with --timeout, or look again with: svc queue jobs ${quoteForShell(queue)}`,
    details: { receipt, state },
  });
}

/** A job from the engine; throws for a receipt that the engine does not know. */
export async function findJob(engine: EngineConnection, receipt: string): Promise<JsonRecord> {
  try {
    const job = await engine.call('engine::queue::job', { messageReceiptId: receipt });
    return isRecord(job) ? job : {};
  } catch (error) {
    if (!isSvcError(error, 'NOT_FOUND')) throw error;
    const dead = await findAmongDead(engine, receipt);
    if (dead === undefined) throw error;
    return dead;
  }
}

/** Queues whose adapter, such as a broker, does not report which jobs are in them. */
async function queuesThatHideJobs(engine: EngineConnection): Promise<JsonRecord[]> {
  return (await listQueues(engine)).filter((queue) => !isReported(queue, 'oldest_enqueued_at'));
}

/** Such adapters do report their dead letters. */
async function findAmongDead(engine: EngineConnection, receipt: string): Promise<JsonRecord | undefined> {
  for (const queue of await queuesThatHideJobs(engine)) {
    if ((numberIn(queue, 'dead') ?? 0) === 0) continue;
    const name = textIn(queue, 'name');
    const page = { topic: name, message_id: receipt, payloads: false };
    const rows = await engine.call('engine::queue::dlq_messages', page);
    const [row] = Array.isArray(rows) ? rows.filter(isRecord) : [];
    if (row === undefined) continue;
    const { function_id, error, retries: attempt } = row;
    return { messageReceiptId: receipt, queue: name, state: 'dead', function_id, error, attempt };
  }
  return undefined;
}
