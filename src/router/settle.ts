// How calls end: by a result, at their deadline, or with the worker that had them. Exactly one of these (I1).

import { type Refusal, refusals, unreadablePayload } from '../core/refusal.ts';
import { isErrorBody } from '../generated/worker-frames.ts';
import { byteStringToText, parseRawJson, type RawJson, rawJson } from '../protocol/byte-string.ts';
import type { ErrorBody, InvocationResult } from '../protocol/frames.ts';
import { Payload } from '../protocol/payload.ts';
import type { Caller, RouterContext } from './context.ts';
import { endCall } from './observe.ts';
import type { HandedCall } from './open-call.ts';
import { type Outcome, outcomeOf } from './reply.ts';
import { Session } from './session.ts';
import type { CallerRef } from './wire.ts';

/** A worker sent a result in a JSON frame. Late, repeated and foreign ones find no call and are counted. */
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

/** `endedMs`: when its result came, for whoever knows; a look at the clock is half of what counting a call costs. */
export function settle(context: RouterContext, call: HandedCall, outcome: Outcome, endedMs?: number): void {
  const { origin, originRef, functionId } = call;
  if (context.observer !== undefined) endCall(context, context.observer, call, outcome, endedMs);
  if (call.isQuiet && call.executor instanceof Session) call.executor.quietInFlight--;
  context.calls.settle(call);
  if (origin === undefined) return;
  if (origin instanceof Session) origin.callsAwaited--;
  answer(origin, originRef, functionId, outcome);
}

/** Answers every call whose deadline has passed. Called every `DEADLINE_STEP_MS`. */
export function expireCalls(context: RouterContext): void {
  const nowMs = context.clock.monotonicMs();
  for (const call of context.calls.expired(nowMs)) {
    // Whoever was told of an earlier one may have ended this one as well, and its record may serve a new call.
    if (!call.isOpen || call.deadlineMs > nowMs) continue;
    context.counters.count('invocations.timed_out');
    settle(context, call, outcomeOf(refusals.timedOut(Math.round(call.deadlineMs - call.startedMs))));
  }
}

/** The executor is gone: its calls end, their effect unknown. Calls that it waited for go on, unheard (I4, I5). */
export function orphanCalls(context: RouterContext, session: Session, refusal: Refusal): void {
  // Most connections that end have no call open: they must not pay for a walk over everyone's.
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

/** What came as bytes and must become text is looked at now; a worker that sent rubbish has failed its call. */
function readable(caller: Session, functionId: string, outcome: Outcome): Outcome {
  const payload = outcome.error ?? outcome.result;
  if (payload === undefined || caller.wire.admit(payload)) return outcome;
  return outcomeOf(unreadablePayload(`the answer of ${functionId}`));
}

/** The error of a binary result: read here, since callers and observers rely on its shape. */
export function checkedErrorPayload(error: Payload | undefined): Payload {
  const text = error?.asText();
  if (text !== undefined) return Payload.ofText(checkedError(text));
  const body: ErrorBody = { code: 'invocation_failed', message: 'The handler failed with an error that is not JSON' };
  return Payload.ofText(rawJson(body));
}

/** An error as the worker sent it where it has the shape that callers rely on; otherwise its text in that shape. */
function checkedError(error: RawJson): RawJson {
  const value = parseRawJson(error);
  if (isErrorBody(value)) return error;
  const text = typeof value === 'string' ? value : byteStringToText(error);
  const body: ErrorBody = { code: 'invocation_failed', message: text };
  if (typeof value === 'object' && value !== null) {
    // The usual slip is a null where the wire wants the field left out, which makes Node clients lose the error.
    const { code, message, stacktrace } = value as Partial<Record<keyof ErrorBody, unknown>>;
    if (typeof code === 'string' && code !== '') body.code = code;
    if (typeof message === 'string') body.message = message;
    if (typeof stacktrace === 'string') body.stacktrace = stacktrace;
  }
  return rawJson(body);
}
