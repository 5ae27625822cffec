// One attempt of one job: the call of its function, and what its outcome means for the job (Q5).

import { retryDelayMs } from '../../core/queue/backoff.ts';
import type { SettledJob } from '../../core/queue/shapes.ts';
import { asRawJson, parseRawJson, type RawJson, rawJson } from '../../protocol/byte-string.ts';
import { Payload } from '../../protocol/payload.ts';
import type { RouterPort } from '../../router/port.ts';
import type { Outcome } from '../../router/reply.ts';
import type { TakenJob } from './adapters/adapter.ts';
import type { QueueSettings } from './config.ts';
import { FATAL_CODE, readJobError } from './job-error.ts';

export interface Attempt {
  readonly job: TakenJob;
  readonly queue: string;
  /** What the handler last said of how far it is. */
  progress: unknown;
}

export type AttemptEnd = Omit<SettledJob, 'seq' | 'token'>;

export interface JobWorld {
  readonly router: RouterPort;
  readonly settings: QueueSettings;
  readonly origin:
    | { readonly id: string; readonly type: string; readonly conditionFunctionId: string | undefined }
    | undefined;
}

/** Every worker is at its limit: nothing was tried, and there is no hurry. */
const BUSY_WAIT_MS = 100;

/** Calls `done` exactly once, at once or later. */
export function runJob(world: JobWorld, attempt: Attempt, done: (end: AttemptEnd) => void): void {
  const { router, origin } = world;
  const { job } = attempt;
  const payload = Payload.ofBytes(job.payload, 0, job.payload.length);
  const condition = origin?.conditionFunctionId;
  if (condition === undefined) return callFunction(world, attempt, payload, done);
  router.checkCondition(
    condition,
    payload,
    0,
    (verdict) => {
      if (verdict === 'pass') callFunction(world, attempt, payload, done);
      else if (verdict === 'skip') done({ how: 'done' });
      else if (router.isDraining) done({ how: 'release' });
      else done(failed(world.settings, job, `condition_failed: the condition ${condition} gave no answer`, undefined));
    },
    { id: origin?.id ?? '', type: origin?.type ?? '' },
  );
}

function callFunction(world: JobWorld, attempt: Attempt, payload: Payload, done: (end: AttemptEnd) => void): void {
  const { router, settings, origin } = world;
  const { job } = attempt;
  const { functionId, metadata, traceparent, baggage, depth } = job.facts;
  const isWorker = router.functionEntry(functionId)?.kind === 'worker';
  let isWithin = true;
  router.call(
    {
      functionId,
      payload,
      metadata: Payload.ofText(metadataOf(metadata === undefined ? undefined : asRawJson(metadata), attempt)),
      traceparent,
      baggage,
      // A job that enqueues the next one is no loop of calls: each begins a chain of its own.
      depth: depth ?? 0,
      timeoutMs: settings.jobTimeoutMs,
      trigger: origin && { id: origin.id, type: origin.type },
    },
    // What is answered within the call never reached a worker.
    (outcome) => done(endOf(world, job, outcome, isWithin && isWorker)),
  );
  isWithin = false;
}

/** Q9: merged over what the caller gave. */
function metadataOf(given: RawJson | undefined, { job, queue }: Attempt): RawJson {
  const own = { messageReceiptId: job.id, attempt: job.attempt, queue };
  if (given === undefined) return rawJson(own);
  const value = parseRawJson(given);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return rawJson(isObject ? { ...value, ...own } : own);
}

function endOf({ router, settings }: JobWorld, job: TakenJob, { error }: Outcome, isUnsent: boolean): AttemptEnd {
  if (error === undefined) return { how: 'done' };
  const { code, text, retryAfterMs } = readJobError(error);
  // An engine that stops burns no attempt, whatever the handler made of it (G2).
  if (router.isDraining && (code === 'SHUTTING_DOWN' || code === 'invocation_stopped')) {
    return { how: 'release', ...(isUnsent && { isUnsent }) };
  }
  if (isUnsent && code === 'function_not_found') return { how: 'park', isUnsent };
  if (isUnsent && code === 'OVERLOADED') return { how: 'release', isUnsent, afterMs: BUSY_WAIT_MS };
  if (code === FATAL_CODE) return { how: 'dead', reason: 'fatal', error: text };
  return failed(settings, job, text, retryAfterMs);
}

function failed(
  { retry }: QueueSettings,
  { attempt }: TakenJob,
  error: string,
  afterMs: number | undefined,
): AttemptEnd {
  const delayMs = retryDelayMs(retry, attempt);
  if (delayMs === undefined) return { how: 'dead', reason: 'failed', error };
  return { how: 'retry', afterMs: afterMs ?? delayMs, error };
}
