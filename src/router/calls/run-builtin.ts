// Runs a function of the engine. A function that answers at once needs no entry in the call table. One that answers
// later is a call like any other, with a deadline.

import { Refusal, refusals, unreadablePayload } from '../../core/calls/refusal.ts';
import { parseRawJson } from '../../protocol/json/byte-string.ts';
import type { AnyBuiltin, BuiltinCall, BuiltinDefinition, ForwardedBuiltin, RawBuiltinDefinition } from '../builtin.ts';
import type { CallRequest, HandedCall, RouterContext } from '../context.ts';
import { forward } from '../remote/relayed-calls.ts';
import { type Begun, beginCall, contextOf, endAtOnce, spanOf } from '../session/observe.ts';
import { type Outcome, outcomeOf, outcomeOfValue } from './call.ts';
import { answer, openCall, settle } from './in-flight.ts';

export function runBuiltin(context: RouterContext, builtin: AnyBuiltin, request: CallRequest): void {
  if ('home' in builtin) forwardOrRun(context, builtin, request);
  else if ('handleRaw' in builtin) runRaw(context, builtin, request);
  else runParsed(context, builtin, request);
}

/** What another router asks, this one answers itself: it would go in circles. */
function forwardOrRun(context: RouterContext, { id, home, local }: ForwardedBuiltin, request: CallRequest): void {
  if (request.relayedBy === undefined) {
    const place = context.ownPlaces.get(id);
    if (place !== undefined) return place.take(request);
    const refusal = forward(context, home, request);
    if (refusal !== undefined) finish(context, request, id, outcomeOf(refusal));
  } else if (local === undefined) {
    finish(context, request, id, outcomeOf(refusals.functionNotFound(id)));
  } else runBuiltin(context, local, request);
}

/** Looked up again by the numbers of its call, because the deadline may have ended it meanwhile. */
function runRaw(context: RouterContext, builtin: RawBuiltinDefinition, request: CallRequest): void {
  const release = context.payloadShare.take(request.rights, request.data);
  if (release instanceof Refusal) return finish(context, request, builtin.id, outcomeOf(release));
  const begun = context.observer && beginCall(context.observer, builtin.id, request);
  const { slot, generation } = openCall(context, builtin.id, context.moduleExecutor, request, spanOf(begun));
  const done = (outcome: Outcome): void => {
    release();
    const call = context.calls.findByNumbers(slot, generation >>> 0, context.moduleExecutor);
    if (call === undefined) context.counters.count('invocations.late_results');
    else settleOwn(context, call, outcome);
  };
  try {
    builtin.handleRaw(request.data, callOf(request, begun), done);
  } catch (error) {
    done(outcomeOf(asRefusal(context, builtin.id, error)));
  }
}

/** A fire-and-forget call may fail like any other: the failure is counted. */
function settleOwn(context: RouterContext, call: HandedCall, outcome: Outcome): void {
  if (call.origin === undefined && outcome.error !== undefined) context.counters.count('invocations.void_failed');
  settle(context, call, outcome);
}

function callOf(request: CallRequest, begun: Begun): BuiltinCall {
  return {
    callerWorkerId: request.from?.workerId ?? request.forwardedFor?.worker,
    callerName: request.from?.displayName ?? request.forwardedFor?.name,
    rights: request.rights,
    isRelayed: request.relayedBy === undefined || request.forwardedFor !== undefined ? undefined : true,
    sent: request.data,
    depth: request.depth + 1,
    traceparent: contextOf(begun, request.traceparent),
    baggage: request.baggage,
    span: spanOf(begun),
  };
}

function runParsed(context: RouterContext, builtin: BuiltinDefinition, request: CallRequest): void {
  const outcomeOfThrown = (error: unknown): Outcome => outcomeOf(asRefusal(context, builtin.id, error));
  const begun = context.observer && beginCall(context.observer, builtin.id, request);
  const startedMs = context.observer === undefined ? 0 : context.clock.monotonicMs();
  const end = (outcome: Outcome): void => {
    if (context.observer !== undefined) {
      endAtOnce(context, context.observer, builtin.id, { request, span: spanOf(begun), startedMs, outcome });
    }
    finish(context, request, builtin.id, outcome);
  };
  let value: unknown;
  try {
    const refusal = builtin.payloadLimits && context.payloadSizes.refusalOf(builtin.payloadLimits, request);
    if (refusal !== undefined) return end(outcomeOf(refusal));
    value = builtin.handle(readData(request), callOf(request, begun));
    if (!(value instanceof Promise)) return end(outcomeOfValue(value));
  } catch (error) {
    return end(outcomeOfThrown(error));
  }
  const { id } = openCall(context, builtin.id, context.moduleExecutor, request, spanOf(begun));
  value
    .then((result: unknown) => outcomeOfValue(result))
    .catch(outcomeOfThrown)
    .then((outcome) => {
      const call = context.calls.find(id, context.moduleExecutor);
      if (call === undefined) context.counters.count('invocations.late_results');
      else settle(context, call, outcome);
    });
}

function readData({ data, functionId }: CallRequest): unknown {
  if (data === undefined) return null;
  const text = data.asText();
  if (text === undefined) throw unreadablePayload(`the payload for ${functionId}`, data);
  return parseRawJson(text);
}

/** A fire-and-forget call may fail like any other: the failure is counted. */
function finish(context: RouterContext, request: CallRequest, functionId: string, outcome: Outcome): void {
  if (request.caller !== undefined) answer(request.caller, request.ref, functionId, outcome);
  else if (outcome.error !== undefined) context.counters.count('invocations.void_failed');
}

/** Anything but a refusal is a bug in the engine: it is logged in full, and the caller gets no internals. */
function asRefusal(context: RouterContext, functionId: string, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  // V8's error for a text that exceeds the maximum string length.
  if (error instanceof RangeError) return new Refusal('RESULT_TOO_LARGE', `The result of ${functionId} is too large`);
  const stack = error instanceof Error ? error.stack : String(error);
  context.logger.error('A built-in function failed', { function_id: functionId, error: stack });
  return new Refusal('invocation_failed', `${functionId} failed inside the engine; its log says why`);
}
