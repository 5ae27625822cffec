// Waits for the end of a job, by its receipt (CLI-21).

import { isSvcError } from '../../../sdk/calls/errors.ts';
import type { EngineConnection } from '../../engine/connection.ts';
import { EXIT } from '../../kernel/exit-codes.ts';
import { CliFailure } from '../../kernel/failures.ts';
import { formatDuration } from '../../text/durations.ts';
import { type JsonRecord, textIn } from '../../text/records.ts';
import { quoteForShell } from '../../text/shell-quote.ts';
import { findJob, queuesThatHideJobs } from './queue-facts.ts';

const FIRST_LOOK_MS = 20;
const LOOK_MS_MAX = 500;

export async function followJob(engine: EngineConnection, receipt: string, timeoutMs: number): Promise<JsonRecord> {
  const untilMs = performance.now() + timeoutMs;
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(LOOK_MS_MAX, waitMs * 2)) {
    const job = await lookAt(engine, receipt);
    const state = textIn(job, 'state');
    if (state === 'done' || state === 'dead') return job;
    if (performance.now() + waitMs > untilMs) throw stillUnderWay(receipt, job, timeoutMs);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** While the job is in a broker that does not report its jobs, it counts as waiting. */
async function lookAt(engine: EngineConnection, receipt: string): Promise<JsonRecord> {
  try {
    return await findJob(engine, receipt);
  } catch (error) {
    const hiding = isSvcError(error, 'NOT_FOUND') ? await queuesThatHideJobs(engine) : [];
    if (hiding.length === 0) throw error;
    return { messageReceiptId: receipt, state: 'waiting' };
  }
}

function stillUnderWay(receipt: string, job: JsonRecord, timeoutMs: number): CliFailure {
  const [state, queue] = [textIn(job, 'state'), textIn(job, 'queue')];
  return new CliFailure({
    code: 'TIMEOUT',
    message: `The job ${receipt} is ${state} after ${formatDuration(timeoutMs)}.`,
    exitCode: EXIT.timedOut,
    hint: `The job continues. Wait longer with --timeout, or look again with: svc queue jobs ${quoteForShell(queue)}`,
    details: { receipt, state },
  });
}
