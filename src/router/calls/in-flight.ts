// Calls in flight: how they are opened, and how they end: by a result, at their deadline, or with the worker that ran
// them. Exactly one of these (I1).

import { type Refusal, refusals, unreadablePayload } from '../../core/calls/refusal.ts';
import type { OpenSpan } from '../../core/telemetry/spans/span-rows.ts';
import { isErrorBody } from '../../generated/worker-frames.ts';
import type { ErrorBody } from '../../protocol/frames/frames.ts';
import { byteStringToText, parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { ModuleExecutor } from '../builtin.ts';
import type { Caller, CallRequest, HandedCall, RouterContext } from '../context.ts';
import { RemoteEngine } from '../remote/remote-engine.ts';
import { countDeferred, endCall, notePayload } from '../session/observe.ts';
import { Session } from '../session/session.ts';
import { type CallerRef, type Outcome, outcomeOf } from './call.ts';

/** From here on exactly one of result, deadline and lost worker ends the call. */
export function openCall(
  context: RouterContext,
  functionId: string,
  executor: Session | ModuleExecutor | RemoteEngine,
  request: CallRequest,
  span: OpenSpan | undefined,
): HandedCall {
  // The engine that runs it counts it.
  const isCounted = request.isInternal !== true && !(executor instanceof RemoteEngine);
  if (request.caller === undefined && context.observer !== undefined && isCounted) {
    countDeferred(context.observer, functionId);
  }
  const payloads = context.observer?.payloads;
  if (span !== undefined && payloads !== undefined) notePayload(payloads, span, functionId, request);
  if (request.caller instanceof Session) request.caller.callsAwaited++;
  const call = context.calls.open({
    functionId,
    executor,
    origin: request.caller,
    originRef: request.ref,
    nowMs: context.clock.monotonicMs(),
    timeoutMs: request.timeoutMs,
    span,
    isInternal: !isCounted,
    isRestricted: isRestricted(request, executor),
    isOfHandler: isOfHandler(request),
  });
  if (!(executor instanceof Session)) return call;
  if (call.isRestricted) executor.restrictedInFlight++;
  // Not calls between restricted connections, or of one to itself: they could keep a drain going for ever.
  if (executor.access !== undefined && !isCausedByRestricted(request)) {
    call.isOwed = true;
    executor.owedInFlight++;
  }
  return call;
}

/** Whether a restricted connection causes the call: itself, its trigger, or its job. */
export function isCausedByRestricted({ rights, isForRestricted }: CallRequest): boolean {
  return rights !== undefined || isForRestricted === true;
}

/** Whether a handler on a connection makes the call: its worker has one place less until the call is answered. */
export function isOfHandler({ from, depth }: CallRequest): boolean {
  return from !== undefined && depth > 0;
}

/** Whether a restricted connection causes the call or runs it: such calls have half of the places of the engine. */
export function isRestricted(request: CallRequest, executor?: Session | ModuleExecutor | RemoteEngine): boolean {
  return isCausedByRestricted(request) || (executor instanceof Session && executor.access !== undefined);
}

/**
 * `endedMs`: when the result came, if the caller of this function knows it. Reading the clock is half the cost of
 * counting a call.
 */
export function settle(context: RouterContext, call: HandedCall, outcome: Outcome, endedMs?: number): void {
  const { origin, originRef, functionId } = call;
  if (context.observer !== undefined) endCall(context, context.observer, call, outcome, endedMs);
  release(context, call);
  if (origin !== undefined) answer(origin, originRef, functionId, outcome);
}

/** Ends the call without an answer, because another executor gets it. */
export function release(context: RouterContext, call: HandedCall): void {
  const { origin } = call;
  if (call.isQuiet && call.executor instanceof Session) call.executor.quietInFlight--;
  if (call.isOwed && call.executor instanceof Session) call.executor.owedInFlight--;
  if (call.isRestricted && call.executor instanceof Session) call.executor.restrictedInFlight--;
  if (context.waiting.size > 0 && call.executor instanceof Session) context.placeFreed(call.executor);
  if (context.repeatable.size > 0) context.repeatable.delete(call.slot);
  context.calls.settle(call);
  if (origin instanceof Session) origin.callsAwaited--;
  if (context.afterCalls.size > 0) follow(context, call.slot);
}

function follow({ afterCalls }: RouterContext, slot: number): void {
  const then = afterCalls.get(slot);
  afterCalls.delete(slot);
  then?.();
}

/** Answers every call whose deadline has passed. Called every `DEADLINE_STEP_MS`. */
export function expireCalls(context: RouterContext): void {
  const nowMs = context.clock.monotonicMs();
  for (const call of context.calls.expired(nowMs)) {
    // Settling an earlier one runs code that may have ended this one as well, and its record may serve a new call.
    if (!call.isOpen || call.deadlineMs > nowMs) continue;
    context.counters.count('invocations.timed_out');
    settle(context, call, outcomeOf(refusals.timedOut(Math.round(call.deadlineMs - call.startedMs))));
  }
}

/**
 * The executor is gone: its calls end with an unknown effect. Calls that it made continue without a caller (I4, I5).
 */
export function orphanCalls(context: RouterContext, session: Session, refusal: Refusal): void {
  // Most connections that end have no open call: they must not pay for a walk over all calls.
  if (session.inFlight === 0 && session.callsAwaited === 0) return;
  for (const call of context.calls.allOpen()) {
    if (call.origin === session) call.origin = undefined;
    if (call.isOpen && call.executor === session) settle(context, call, outcomeOf(refusal));
  }
  session.callsAwaited = 0;
}

export function answer(caller: Caller, ref: CallerRef, functionId: string, outcome: Outcome): void {
  if (caller instanceof Session) caller.wire.sendResult(ref, functionId, readable(caller, functionId, outcome));
  else caller.settle(outcome);
}

/** Bytes that must become text are checked here. A worker that sent invalid JSON has failed its call. */
function readable(caller: Session, functionId: string, outcome: Outcome): Outcome {
  const payload = outcome.error ?? outcome.result;
  if (payload === undefined || caller.wire.admit(payload)) return outcome;
  return outcomeOf(unreadablePayload(`the answer of ${functionId}`, payload));
}

/** The error of a binary result: parsed here, because callers and observers rely on its shape. */
export function checkedErrorPayload(error: Payload | undefined): Payload {
  const text = error?.asText();
  if (text !== undefined) return Payload.ofText(checkedError(text));
  const body: ErrorBody = { code: 'invocation_failed', message: 'The handler failed with an error that is not JSON' };
  return Payload.ofText(rawJson(body));
}

/** The worker's error where it has the shape that callers rely on; otherwise its text in that shape. */
export function checkedError(error: RawJson): RawJson {
  const value = parseRawJson(error);
  if (isErrorBody(value)) return error;
  const text = typeof value === 'string' ? value : byteStringToText(error);
  const body: ErrorBody = { code: 'invocation_failed', message: text };
  if (typeof value === 'object' && value !== null) {
    // A common mistake is a null where the wire wants the field left out, which makes Node clients lose the error.
    const { code, message, stacktrace } = value as Partial<Record<keyof ErrorBody, unknown>>;
    if (typeof code === 'string' && code !== '') body.code = code;
    if (typeof message === 'string') body.message = message;
    if (typeof stacktrace === 'string') body.stacktrace = stacktrace;
  }
  return rawJson(body);
}
