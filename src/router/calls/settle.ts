// How calls end: by a result, at their deadline, or with the worker that ran them. Exactly one of these (I1).

import { type Refusal, refusals, unreadablePayload } from '../../core/calls/refusal.ts';
import { isErrorBody } from '../../generated/worker-frames.ts';
import type { ErrorBody, InvocationResult } from '../../protocol/frames/frames.ts';
import { byteStringToText, parseRawJson, type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Caller, RouterContext } from '../context.ts';
import { endCall } from '../session/observe.ts';
import { Session } from '../session/session.ts';
import type { CallerRef } from '../session/wire.ts';
import type { HandedCall } from './open-call.ts';
import { type Outcome, outcomeOf } from './reply.ts';

/** A worker sent a result in a JSON frame. Late, repeated and foreign results find no call and are counted. */
export function handleResult(context: RouterContext, session: Session, frame: InvocationResult<RawJson>): void {
  const call = context.calls.find(frame.invocation_id, session);
  if (call === undefined) {
    context.counters.count('invocations.late_results');
    return;
  }
  const { result, error, traceparent, baggage } = frame;
  const outcome: Outcome = {
    result: error === undefined && result !== undefined ? Payload.ofText(result) : undefined,
    error: error && Payload.ofText(checkedError(error)),
    traceparent,
    baggage,
  };
  settle(context, call, outcome, session.lastHeardMs);
}

/**
 * `endedMs`: when the result came, if the caller of this function knows it. Reading the clock is half the cost of
 * counting a call.
 */
export function settle(context: RouterContext, call: HandedCall, outcome: Outcome, endedMs?: number): void {
  const { origin, originRef, functionId } = call;
  if (context.observer !== undefined) endCall(context, context.observer, call, outcome, endedMs);
  if (call.isQuiet && call.executor instanceof Session) call.executor.quietInFlight--;
  if (call.isOwed && call.executor instanceof Session) call.executor.owedInFlight--;
  context.calls.settle(call);
  if (origin === undefined) return;
  if (origin instanceof Session) origin.callsAwaited--;
  answer(origin, originRef, functionId, outcome);
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

/** The executor is gone: its calls end with an unknown effect. Calls that it made go on without a caller (I4, I5). */
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
  return outcomeOf(unreadablePayload(`the answer of ${functionId}`));
}

/** The error of a binary result: parsed here, because callers and observers rely on its shape. */
export function checkedErrorPayload(error: Payload | undefined): Payload {
  const text = error?.asText();
  if (text !== undefined) return Payload.ofText(checkedError(text));
  const body: ErrorBody = { code: 'invocation_failed', message: 'The handler failed with an error that is not JSON' };
  return Payload.ofText(rawJson(body));
}

/** The worker's error where it has the shape that callers rely on; otherwise its text in that shape. */
function checkedError(error: RawJson): RawJson {
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
