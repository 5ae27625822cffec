// Reports calls to the collector. What is not observed or not sampled passes through here unrecorded.

import type { Refusal } from '../../core/calls/refusal.ts';
import type { EnqueueAnswer } from '../../core/queue/shapes.ts';
import type { QuietTraces } from '../../core/telemetry/logs/quiet-traces.ts';
import type { EmittedPrefix } from '../../core/telemetry/metrics/metric-names.ts';
import type { PayloadCapture } from '../../core/telemetry/payloads/payload-capture.ts';
import { isOwnFunction } from '../../core/telemetry/records/own-functions.ts';
import type { Begun, Collector } from '../../core/telemetry/spans/collector.ts';
import { isSampled, traceIdOf } from '../../core/telemetry/spans/context.ts';
import { attributeText, type OpenSpan, RUN_BYTES } from '../../core/telemetry/spans/span-rows.ts';
import { ID_BYTES_MAX } from '../../protocol/frames/limits.ts';
import { detach, parseRawJson } from '../../protocol/json/byte-string.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { Binding, Cause } from '../builtin.ts';
import type { Outcome } from '../calls/call.ts';
import type { CallRequest, HandedCall, RouterContext } from '../context.ts';
import type { Session } from './session.ts';

/**
 * Functions that query observed data: observing them would answer each query with the next one (wire 5.5). Also those
 * that `svc dev` calls continuously.
 */
const UNTRACED =
  /^(?:engine::(?:logs?|traces|metrics|rollups|baggage|sampling|health|alerts)::|worker::(?:list|status|logs)$)/;

/** A call begins: its span, or its context without one; `UNTRACED` only where that is useful. */
export function beginCall(observer: Collector, functionId: string, request: CallRequest, canBeUntraced = false): Begun {
  const { traceparent, baggage, from, trigger } = request;
  const isOwn = isOwnFunction(functionId);
  if (isOwn && (isQuestion(request) || UNTRACED.test(functionId))) return undefined;
  const service = from?.profile?.name ?? '';
  const begun = canBeUntraced
    ? observer.beginOrUntraced('call ', functionId, functionId, service, traceparent, baggage)
    : observer.begin('call ', functionId, functionId, service, traceparent, baggage);
  if (typeof begun !== 'object') return begun;
  const { prefix } = observer.settings;
  const known = knownCall(prefix, functionId, isOwn || request.isInternal === true);
  begun.name = known.name;
  begun.attributes = known.attributes;
  if (trigger !== undefined) begun.add('trigger.type', trigger.type);
  if (trigger !== undefined) begun.add('trigger.id', trigger.id);
  if (from?.profile?.name !== undefined) begun.add('svc.caller.worker', from.profile.name);
  return begun;
}

/** Another engine or router asks for a part of an answer of its own, or to know what has changed. */
function isQuestion({ isInternal, relayedBy }: CallRequest): boolean {
  return isInternal === true && relayedBy !== undefined;
}

const KINDS: Readonly<Record<EmittedPrefix, string>> = { svc: 'svc.function.kind', iii: 'iii.function.kind' };

/** What all spans of calls to one function share, built once. */
interface KnownCall {
  readonly name: string;
  readonly attributes: string;
}

const knownCalls: Readonly<Record<EmittedPrefix, Map<string, KnownCall>>> = { svc: new Map(), iii: new Map() };
/** Function ids are chosen by users. */
const KNOWN_CALLS_MAX = 4_096;

function knownCall(prefix: EmittedPrefix, functionId: string, isInternal: boolean): KnownCall {
  const all = knownCalls[prefix];
  // A call of the console turns a user's function into an internal one.
  const key = isInternal ? `!${functionId}` : functionId;
  let known = all.get(key);
  if (known === undefined) {
    if (all.size >= KNOWN_CALLS_MAX) all.clear();
    const kind = attributeText(KINDS[prefix], isInternal ? 'internal' : 'user');
    known = { name: `call ${functionId}`, attributes: attributeText('faas.invoked_name', functionId) + kind };
    all.set(key, known);
  }
  return known;
}

/** The attribute that says whether a function is a user's or the engine's. */
export function kindKey({ settings }: Collector): string {
  return KINDS[settings.prefix];
}

export type { Begun };

/** The context to be passed on. */
export function contextOf(begun: Begun, traceparent: string | undefined): string | undefined {
  return typeof begun === 'object' ? begun.traceparent : (begun ?? traceparent);
}

export function spanOf(begun: Begun): OpenSpan | undefined {
  return typeof begun === 'object' ? begun : undefined;
}

/** A call that was handed to no worker. */
export function noteRefused(observer: Collector, request: CallRequest, refusal: Refusal): void {
  const functionId = detach(request.functionId.slice(0, ID_BYTES_MAX));
  const span = spanOf(beginCall(observer, functionId, request));
  if (span !== undefined && observer.payloads !== undefined) {
    notePayload(observer.payloads, span, functionId, request);
    observer.payloads.end(span, undefined, true);
  }
  endRefused(observer, functionId, span, refusal);
}

/** What the engine's own functions get and answer is administration, and may hold what its users may not see. */
export function notePayload(payloads: PayloadCapture, span: OpenSpan, functionId: string, { data }: CallRequest): void {
  if (!isOwnFunction(functionId)) payloads.begin(span, functionId, data);
}

export function endRefused(
  observer: Collector | undefined,
  functionId: string,
  span: OpenSpan | undefined,
  refusal: Refusal,
): void {
  if (observer !== undefined) countEnd(observer, functionId, 0, refusal.code);
  if (span !== undefined) observer?.end(span, refusal.code, refusal.message);
}

/**
 * A worker runs what a log trigger caused: until that ends, calls that it makes without any context count as caused by
 * it too. Not every client carries context from a handler to its calls (wire 13).
 */
export function noteQuiet(
  { quietTraces }: RouterContext,
  call: HandedCall,
  executor: Session,
  traceparent: string | undefined,
): void {
  if (!quietTraces.isMarkedContext(traceparent)) return;
  call.isQuiet = true;
  executor.quietInFlight++;
}

/**
 * The context of a call as far as its connection is believed. A mark suppresses logs below it: a restricted connection
 * can only pass one on while it runs something marked itself. Otherwise the call starts a trace of its own, because
 * workers that log in the marked trace would be silent in any case.
 */
export function contextOfCaller(
  { quietTraces, random, counters }: RouterContext,
  { quietInFlight, access }: Session,
  given: string | undefined,
): string | undefined {
  if (given === undefined) return quietInFlight === 0 ? undefined : quietTraces.cause(random.token()).traceparent;
  if (access === undefined || quietInFlight > 0 || !quietTraces.isMarkedContext(given)) return given;
  counters.count('traces.marks_refused', 'connection');
  return undefined;
}

/** A connection has shown that it is a worker: by its first registration, or by identifying itself. */
export function noteWorker({ observer }: RouterContext, session: Session): void {
  if (session.isCountedWorker || observer === undefined) return;
  session.isCountedWorker = true;
  observer.workerCame();
}

export function noteWorkerLeft({ observer }: RouterContext, session: Session): void {
  if (session.isCountedWorker) observer?.workerLeft(session.generation);
  else observer?.sourceLeft(session.generation);
}

/** A call has ended in any way. Called before its record is released. */
export function endCall(
  { clock }: RouterContext,
  observer: Collector,
  call: HandedCall,
  outcome: Outcome,
  endedMs: number | undefined,
): void {
  const { span, isCounted } = call;
  if (span === undefined && !isCounted) return;
  const error = outcome.error === undefined ? undefined : readError(outcome.error);
  const nowMs = endedMs ?? clock.monotonicMs();
  if (isCounted) countEnd(observer, call.functionId, nowMs - call.startedMs, error?.code);
  if (outcome.result !== undefined) span?.add(RUN_BYTES.output, String(outcome.result.byteLength));
  if (span !== undefined) observer.payloads?.end(span, outcome.result, outcome.error !== undefined);
  endSpan(observer, span, error, nowMs);
}

/** A call that ended before it had an entry in the call table. */
export function endAtOnce(
  { clock }: RouterContext,
  observer: Collector,
  functionId: string,
  { request, span, startedMs, outcome }: EndedAtOnce,
): void {
  const isCounted = request.isInternal !== true;
  if (isCounted && request.caller === undefined) countDeferred(observer, functionId);
  if (span === undefined && (!isCounted || request.caller === undefined)) return;
  const error = outcome.error === undefined ? undefined : readError(outcome.error);
  const nowMs = clock.monotonicMs();
  if (isCounted && request.caller !== undefined) countEnd(observer, functionId, nowMs - startedMs, error?.code);
  endSpan(observer, span, error, nowMs);
}

interface EndedAtOnce {
  readonly request: CallRequest;
  readonly span: OpenSpan | undefined;
  readonly startedMs: number;
  readonly outcome: Outcome;
}

export function endOutcome(observer: Collector | undefined, span: OpenSpan | undefined, { error }: Outcome): void {
  if (observer === undefined || span === undefined) return;
  const { code, message, stacktrace } = error === undefined ? NO_ERROR : readError(error);
  observer.end(span, code, message, stacktrace);
}

/** A trigger fires: its calls are child spans. */
export function beginFiring(
  observer: Collector,
  quietTraces: QuietTraces,
  binding: Binding,
  { traceparent, baggage }: Cause,
): Begun {
  const { functionId, type, id } = binding;
  const isLogTrigger = traceparent !== undefined && quietTraces.isMarkedContext(traceparent) && !isSampled(traceparent);
  const begun = isLogTrigger
    ? observer.beginRoot('trigger ', functionId, functionId, traceIdOf(traceparent))
    : observer.begin('trigger ', functionId, functionId, '', traceparent, baggage);
  if (typeof begun !== 'object') return begun;
  begun.add('trigger.type', type);
  begun.add('trigger.id', id);
  begun.add(kindKey(observer), isOwnFunction(functionId) ? 'internal' : 'user');
  return begun;
}

/** A job is passed to its queue. */
export function beginEnqueue(observer: Collector, request: CallRequest, queue: string): Begun {
  const { traceparent, baggage, from } = request;
  const functionId = detach(request.functionId);
  const begun = observer.begin('enqueue ', functionId, functionId, from?.profile?.name ?? '', traceparent, baggage);
  if (typeof begun !== 'object') return begun;
  begun.name += ` → ${detach(queue)}`;
  begun.add('messaging.system', 'svc');
  begun.add('messaging.operation.type', 'send');
  begun.add('messaging.destination.name', queue);
  begun.add(kindKey(observer), 'user');
  return begun;
}

export function endEnqueue(
  observer: Collector,
  functionId: string,
  span: OpenSpan | undefined,
  verdict: EnqueueAnswer,
): void {
  if ('reason' in verdict) {
    if (span !== undefined) observer.end(span, verdict.reason, verdict.message);
    return;
  }
  countDeferred(observer, detach(functionId));
  if (span === undefined) return;
  span.add('messaging.message.id', verdict.id);
  observer.end(span);
}

export interface ObservedJob extends Cause {
  readonly functionId: string;
  /** The topic where there is one, else the queue. */
  readonly name: string;
  readonly isTopic: boolean;
  readonly id: string;
  readonly attempt: number;
}

/** A queue hands over a job: what it calls is a child span, and the span that enqueued it is the parent. */
export function beginJob(observer: Collector, job: ObservedJob): Begun {
  const { functionId, name, traceparent, baggage } = job;
  const begun = observer.begin(job.isTopic ? 'queue ' : 'fn_queue ', name, functionId, '', traceparent, baggage);
  if (typeof begun !== 'object') return begun;
  begun.link = traceparent ?? '';
  begun.add('messaging.system', 'svc');
  begun.add('messaging.operation.type', 'process');
  begun.add('messaging.destination.name', name);
  begun.add('messaging.message.id', job.id);
  begun.add('svc.job.attempt', String(job.attempt));
  begun.add(kindKey(observer), 'user');
  return begun;
}

function endSpan(observer: Collector, span: OpenSpan | undefined, error: ErrorFields | undefined, nowMs: number): void {
  if (span === undefined) return;
  const { code, message, stacktrace } = error ?? NO_ERROR;
  observer.endAt(span, nowMs, code, message, stacktrace);
}

const NO_ERROR: Partial<ErrorFields> = {};

/** Metrics count the work of workers and users, not the calls of the console (API-2). */
function countEnd(observer: Collector, functionId: string, durationMs: number, code: string | undefined): void {
  if (!isOwnFunction(functionId)) observer.callEnded(functionId, durationMs, code);
}

export function countDeferred(observer: Collector, functionId: string): void {
  if (!isOwnFunction(functionId)) observer.callDeferred(functionId);
}

interface ErrorFields {
  readonly code: string;
  readonly message: string;
  readonly stacktrace: string;
}

/** Errors are small; a very large one is not worth reading in full. */
const ERROR_BYTES_MAX = 64 * 1024;

export function readError(error: Payload): ErrorFields {
  const text = error.byteLength > ERROR_BYTES_MAX ? undefined : error.asText();
  const value = text === undefined ? undefined : parseRawJson(text);
  const fields: Partial<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  return {
    code: textOf(fields.code) || 'unknown',
    message: textOf(fields.message),
    stacktrace: textOf(fields.stacktrace),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
