// One attempt of one job: the call of its function, and the meaning of its outcome for the job (Q5): whether the job
// may be retried, and what is kept of the error.

import { withBaggageEntry } from '../../core/calls/call-depth.ts';
import { isTopicQueue, shownName, withoutLane } from '../../core/queue/queue-names.ts';
import type { SettledJob, TakenJob } from '../../core/queue/shapes.ts';
import { retryDelayMs } from '../../core/queue/waits.ts';
import type { Collector } from '../../core/telemetry/spans/collector.ts';
import { JOB_ENTRY } from '../../core/telemetry/spans/context.ts';
import type { OpenSpan } from '../../core/telemetry/spans/span-rows.ts';
import type { TriggerOrigin } from '../../protocol/frames/frames.ts';
import { asRawJson, parseRawJson, quoted, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Binding, Cause } from '../../router/builtin.ts';
import type { Outcome } from '../../router/calls/call.ts';
import type { RouterPort } from '../../router/port.ts';
import type { OfTrigger } from '../../router/restricted/reach.ts';
import { beginJob, contextOf, type ObservedJob, spanOf } from '../../router/session/observe.ts';
import type { QueueSettings } from './config.ts';

export interface Attempt {
  readonly job: TakenJob;
  readonly queue: string;
  /** The progress that the handler last reported. */
  progress: unknown;
}

export type AttemptEnd = Omit<SettledJob, 'seq' | 'token'>;

export interface AttemptContext {
  readonly router: RouterPort;
  readonly settings: QueueSettings;
  /** The trigger on whose behalf all jobs of the queue run. */
  readonly origin: Binding | undefined;
}

interface JobOrigin extends OfTrigger {
  readonly trigger: TriggerOrigin | undefined;
  readonly conditionFunctionId: string | undefined;
}

/** Every worker is at its limit: nothing was attempted, and a short wait is enough. */
const BUSY_WAIT_MS = 100;
/** The engine that ran the job may only be out of reach: by then it is gone, or its handler had time to end (CL25). */
const ENGINE_LOST_WAIT_MS = 6_000;

/** Calls `done` exactly once, at once or later. */
export function runJob(context: AttemptContext, attempt: Attempt, ended: (end: AttemptEnd) => void): void {
  const { router } = context;
  const { job } = attempt;
  const origin = originOf(context, job);
  const begun = router.observer && beginJob(router.observer, describeJob(attempt));
  const cause = {
    // A job that enqueues the next one is not a loop of calls: each begins a chain of its own.
    depth: job.facts.depth ?? 0,
    traceparent: contextOf(begun, job.facts.traceparent),
    baggage: withBaggageEntry(job.facts.baggage ?? '', JOB_ENTRY, job.id),
  };
  const ran: Ran = { traceId: spanOf(begun)?.traceId };
  const done = (end: AttemptEnd): void => {
    const span = spanOf(begun);
    if (span !== undefined) endJobSpan(router.observer, span, end);
    ended(end.how === 'retry' || end.how === 'dead' ? { ...end, ...ranBy(ran) } : end);
  };
  const payload = Payload.ofBytes(job.payload, 0, job.payload.length);
  const condition = origin?.conditionFunctionId;
  const call = (): void => {
    if (context.origin !== undefined) context.origin.lastFiredAtMs = router.nowMs;
    callFunction(context, attempt, { ...cause, ran }, payload, done);
  };
  if (condition === undefined) return call();
  router.checkCondition(
    {
      functionId: condition,
      payload,
      ...cause,
      trigger: origin?.trigger,
      binding: origin?.binding,
      kept: origin?.kept,
    },
    (verdict) => {
      if (verdict === 'pass') call();
      else if (verdict === 'skip') done({ how: 'done' });
      else if (router.isDraining) done({ how: 'release' });
      else
        done(failed(context.settings, job, `condition_failed: the condition ${condition} did not answer`, undefined));
    },
  );
}

/** The worker and trace of an attempt: kept for those that fail (QUE-2). */
interface Ran {
  worker?: string;
  readonly traceId: string | undefined;
}

function ranBy({ worker, traceId }: Ran): Pick<AttemptEnd, 'worker' | 'traceId'> {
  return { ...(worker !== undefined && { worker }), ...(traceId !== undefined && { traceId }) };
}

/** The trigger may be gone: its jobs run with the rights that its owner had (X7). */
function originOf({ origin }: AttemptContext, { facts }: TakenJob): JobOrigin | undefined {
  if (origin !== undefined) {
    const { id, type, conditionFunctionId } = origin;
    return { trigger: { id, type }, binding: origin, conditionFunctionId };
  }
  const { trigger, rights, conditionFunctionId } = facts;
  return trigger === undefined && rights === undefined ? undefined : { trigger, kept: rights, conditionFunctionId };
}

/** Whether a trusted connection, or its trigger, requested it: then no restricted connection may run it. */
export function isTrustedWork(origin: Binding | undefined, { facts }: TakenJob): boolean {
  return origin === undefined ? facts.rights === undefined : origin.owner?.access === undefined;
}

/** A topic's queue is named by topic and function. */
function describeJob({ job, queue }: Attempt): ObservedJob {
  return {
    depth: 0,
    ...job.facts,
    name: shownName(queue),
    isTopic: isTopicQueue(queue),
    id: job.id,
    attempt: job.attempt,
  };
}

function endJobSpan(observer: Collector | undefined, span: OpenSpan, end: AttemptEnd): void {
  span.add('svc.job.outcome', end.how);
  if (end.how === 'done' || end.how === 'release') observer?.end(span);
  else if (end.error === undefined) observer?.end(span, end.reason ?? end.how);
  else {
    // It begins with the code of the handler, which says more than the outcome of the attempt.
    const [code = '', ...message] = end.error.split(': ');
    observer?.end(span, code, message.join(': '));
  }
}

function callFunction(
  context: AttemptContext,
  attempt: Attempt,
  { ran, ...cause }: Cause & { readonly ran: Ran },
  payload: Payload,
  done: (end: AttemptEnd) => void,
): void {
  const { router, settings } = context;
  const { job } = attempt;
  const origin = originOf(context, job);
  const { functionId, metadata } = job.facts;
  const isTrusted = isTrustedWork(context.origin, job);
  const isWorker = router.functionEntry(functionId)?.kind === 'worker';
  let isWithin = true;
  router.call(
    {
      functionId,
      payload,
      metadata: Payload.ofText(metadataOf(metadata === undefined ? undefined : asRawJson(metadata), attempt)),
      ...cause,
      timeoutMs: settings.jobTimeoutMs,
      trigger: origin?.trigger,
      binding: origin?.binding,
      kept: origin?.kept,
      isTrustedWork: isTrusted,
      isJob: true,
      handed: (name) => {
        ran.worker = name;
      },
    },
    // A call that is answered synchronously, or was never handed over, did not reach a worker.
    (outcome) => {
      const isUnsent = isWithin || ran.worker === undefined || outcome.isUnhanded === true;
      done(endOf(context, job, outcome, isUnsent && isWorker));
    },
  );
  isWithin = false;
}

/** Merges the job's metadata into the caller's (Q9). */
function metadataOf(given: RawJson | undefined, { job, queue }: Attempt): RawJson {
  const name = withoutLane(queue);
  if (given === undefined) {
    return asRawJson(`{"messageReceiptId":"${job.id}","attempt":${job.attempt},"queue":${quoted(name)}}`);
  }
  const own = { messageReceiptId: job.id, attempt: job.attempt, queue: name };
  const value = parseRawJson(given);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return rawJson(isObject ? { ...value, ...own } : own);
}

function endOf(
  { router, settings }: AttemptContext,
  job: TakenJob,
  { error, isEngineLost }: Outcome,
  isUnsent: boolean,
): AttemptEnd {
  if (error === undefined) return { how: 'done' };
  if (isEngineLost === true) return { how: 'release', afterMs: ENGINE_LOST_WAIT_MS };
  const { code, text, retryAfterMs } = readJobError(error);
  // An engine that stops uses no attempt, regardless of the handler's result (G2).
  if (router.isDraining && (code === 'SHUTTING_DOWN' || code === 'invocation_stopped')) {
    return { how: 'release', ...(isUnsent && { isUnsent }) };
  }
  if (isUnsent && (code === 'function_not_found' || code === 'ENGINE_UNREACHABLE')) return { how: 'park', isUnsent };
  if (isUnsent && (code === 'OVERLOADED' || code === 'TIMEOUT'))
    return { how: 'release', isUnsent, afterMs: BUSY_WAIT_MS };
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

export interface JobError {
  readonly code: string;
  /** Code and message, limited to 4 KiB (Q10). */
  readonly text: string;
  /** The wait that the handler requests instead of the usual one. */
  readonly retryAfterMs: number | undefined;
}

/** Codes by which a handler controls its queue (SDK-6). */
export const FATAL_CODE = 'FATAL';
export const RETRY_LATER_CODE = 'RETRY_LATER';

const ERROR_BYTES_MAX = 4_096;
const RETRY_AFTER_MS_MAX = 30 * 86_400_000;

export function readJobError(error: NonNullable<Outcome['error']>): JobError {
  const text = error.asText();
  const body: unknown = text === undefined ? undefined : parseRawJson(text);
  const { code, message, after_ms: afterMs } = fieldsOf(body);
  const wordsOfCode = typeof code === 'string' ? code : 'invocation_failed';
  const isWait = typeof afterMs === 'number' && Number.isFinite(afterMs) && afterMs >= 0;
  return {
    code: wordsOfCode,
    text: cut(`${wordsOfCode}: ${typeof message === 'string' ? message : 'no message'}`),
    retryAfterMs:
      wordsOfCode === RETRY_LATER_CODE && isWait ? Math.min(Math.ceil(afterMs), RETRY_AFTER_MS_MAX) : undefined,
  };
}

function fieldsOf(body: unknown): { code?: unknown; message?: unknown; after_ms?: unknown } {
  return typeof body === 'object' && body !== null ? body : {};
}

/** Cuts without leaving half a character at the end. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= ERROR_BYTES_MAX) return text;
  let end = ERROR_BYTES_MAX;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
