// Calls: from the frame that asks for one to its hand-over.
//
// Neighbours: `settle.ts` ends what is opened here; `core/call-table.ts` keeps it meanwhile.
// The order of checks is the wire's (5.1): namespace, arguments, action, existence, depth, limits, worker.

import { depthOf, withBaggageEntry } from '../core/call-depth.ts';
import type { WorkerFunction } from '../core/function-table.ts';
import { PRESSURE } from '../core/pressure.ts';
import { Refusal, refusals, unreadablePayload } from '../core/refusal.ts';
import { UNTRACED } from '../core/telemetry/context.ts';
import { detach, RAW_NULL, type RawJson } from '../protocol/byte-string.ts';
import type { EnqueueAction, InvokeFunction } from '../protocol/frames.ts';
import { idOffence } from '../protocol/ids.ts';
import { CALL_DEPTH_MAX, CALL_TIMEOUT_MS_DEFAULT, CALL_TIMEOUT_MS_MAX, ID_BYTES_MAX } from '../protocol/limits.ts';
import { Payload } from '../protocol/payload.ts';
import { withCallerId } from './caller-id.ts';
import type { Caller, RouterContext } from './context.ts';
import { enqueue as enqueueCall } from './enqueue.ts';
import { guardCall } from './guarded-calls.ts';
import { beginCall, contextOf, contextOfCaller, noteQuiet, noteRefused, spanOf } from './observe.ts';
import { type CallRequest, openCall } from './open-call.ts';
import { reachRefusal } from './reach.ts';
import { outcomeOf } from './reply.ts';
import { runBuiltin } from './run-builtin.ts';
import type { Session } from './session.ts';
import { answer } from './settle.ts';
import { shedRefusal } from './shed.ts';
import { callUrl } from './url-functions.ts';
import type { CallerRef } from './wire.ts';

/** A worker asks for a call, in a JSON frame. */
export function handleInvoke(context: RouterContext, session: Session, frame: InvokeFunction<RawJson>): void {
  const { action } = frame;
  // Clients of version 0.3 mark fire-and-forget by giving neither an id nor an action.
  const waits = frame.invocation_id !== undefined && action?.type !== 'void';
  const caller = waits ? session : undefined;
  // Kept for as long as the call runs, so it must not hold the text of a large frame.
  const ref = frame.invocation_id === undefined ? '' : detach(frame.invocation_id);
  const refusal = checkFrame(frame);
  if (refusal !== undefined) {
    refuse(context, caller, ref, frame.function_id, refusal);
  } else {
    const request: CallRequest = {
      functionId: context.settings.isDropIn ? ownName(frame.function_id) : frame.function_id,
      data: Payload.ofText(frame.data ?? RAW_NULL),
      metadata: frame.metadata && Payload.ofText(frame.metadata),
      traceparent: frame.traceparent ?? contextOfCaller(context, session),
      baggage: frame.baggage,
      depth: depthOf(frame.baggage),
      timeoutMs: frame.timeout_ms ?? (session.isOwnSdk ? CALL_TIMEOUT_MS_DEFAULT : CALL_TIMEOUT_MS_MAX),
      from: session,
      rights: session.access,
      caller,
      ref,
      trigger: undefined,
    };
    const enqueue = action?.type === 'enqueue' ? action : undefined;
    if (session.guard === undefined) deliver(context, request, enqueue);
    else guardCall(context, session, session.guard, request, enqueue);
  }
}

/** Carries a call out in the way that was asked for. */
export function deliver(context: RouterContext, request: CallRequest, enqueue: EnqueueAction | undefined): void {
  if (enqueue === undefined) return invoke(context, request);
  const { caller, ref, functionId, rights } = request;
  const refusal = reachRefusal(rights, functionId);
  if (refusal === undefined) enqueueCall(context, request, enqueue);
  else refuse(context, caller, ref, functionId, refusal);
}

/** Hands the call to its function, or answers it with the reason why not. */
export function invoke(context: RouterContext, request: CallRequest): void {
  const hidden = request.rights && reachRefusal(request.rights, request.functionId);
  // Before existence: who may not call it must not learn whether it is there (X10).
  if (hidden !== undefined) return refuse(context, request.caller, request.ref, request.functionId, hidden);
  const entry = context.functions.get(request.functionId);
  const refusal =
    entry === undefined
      ? refuseUnknown(request.functionId)
      : (checkLimits(context, request) ?? (entry.kind === 'worker' ? checkDrain(context, request) : undefined));
  if (refusal !== undefined) refuseObserved(context, request, refusal);
  else if (entry?.kind === 'worker') handOver(context, entry, request);
  else if (entry !== undefined) runBuiltin(context, entry.handler, request);
}

/** A call that reached no function is one that failed, and part of its trace. */
function refuseObserved(context: RouterContext, request: CallRequest, refusal: Refusal): void {
  const { caller, ref, functionId } = request;
  // A flood of calls that nobody waits for must not become a flood of spans.
  const isNoted = caller !== undefined || context.pressure.level < PRESSURE.busy;
  if (isNoted && context.observer !== undefined) noteRefused(context.observer, request, refusal);
  refuse(context, caller, ref, functionId, refusal);
}

function handOver(context: RouterContext, entry: WorkerFunction<Session>, request: CallRequest): void {
  const executor = context.functions.select(entry);
  const refusal = executor === undefined ? refuseOverload(entry.id) : checkPayload(context, executor, request);
  if (executor === undefined || refusal !== undefined) {
    if (refusal !== undefined) refuseObserved(context, request, refusal);
    return;
  }
  request.handed?.(executor.displayName);
  const url = executor.urlFunctions.size === 0 ? undefined : executor.urlFunctions.get(entry.id);
  const canBeUntraced = url === undefined && executor.wire.canSayUntraced && !context.settings.isDropIn;
  const begun = context.observer && beginCall(context.observer, entry.id, request, canBeUntraced);
  if (url !== undefined) return callUrl(context, url, request, begun);
  const span = spanOf(begun);
  span?.add('svc.worker', executor.displayName);
  const call = openCall(context, entry.id, executor, request, span);
  const traceparent = contextOf(begun, request.traceparent);
  noteQuiet(call, executor, traceparent);
  executor.wire.sendCall(call, {
    functionId: executor.guard === undefined ? entry.id : executor.guard.names.functions.own(entry.id),
    data: context.settings.isDropIn ? dataWithCaller(request) : request.data,
    metadata: request.metadata,
    traceparent,
    baggage: baggageFor(context, entry.id, traceparent, request.baggage),
    depth: request.depth + 1,
    timeoutMs: request.timeoutMs,
    trigger: request.trigger,
  });
}

function dataWithCaller({ data, from }: CallRequest): Payload | undefined {
  const text = data?.asText();
  return text === undefined ? data : Payload.ofText(withCallerId(text, from?.workerId));
}

function refuseOverload(functionId: string): Refusal {
  const text = `Every worker that offers ${functionId} is at its limit of running calls or buffered bytes`;
  return new Refusal('OVERLOADED', text);
}

/** Bytes of the binary wire are trusted to be JSON by whoever passes them on, and looked at where they must be text. */
function checkPayload(context: RouterContext, executor: Session, request: CallRequest): Refusal | undefined {
  const { data, metadata, functionId } = request;
  if (data !== undefined && !isReadable(context, executor, data))
    return unreadablePayload(`the payload for ${functionId}`);
  if (metadata !== undefined && !isReadable(context, executor, metadata)) {
    return unreadablePayload(`the metadata for ${functionId}`);
  }
  return undefined;
}

/** In drop-in mode the payload is opened on the way. */
function isReadable(context: RouterContext, executor: Session, payload: Payload): boolean {
  return executor.wire.admit(payload) && (!context.settings.isDropIn || payload.asText() !== undefined);
}

/** Answers a caller that waits; a call that nobody waits for is counted as dropped (V1). */
export function refuse(
  context: RouterContext,
  caller: Caller | undefined,
  ref: CallerRef,
  functionId: string,
  refusal: Refusal,
): void {
  if (caller === undefined) context.counters.count('invocations.void_dropped', refusal.code);
  else answer(caller, ref, functionId, outcomeOf(refusal));
}

function checkFrame(frame: InvokeFunction<RawJson>): Refusal | undefined {
  const { namespace, timeout_ms: timeoutMs, invocation_id: id } = frame;
  if (id !== undefined && id.length > ID_BYTES_MAX) {
    return new Refusal('BAD_REQUEST', `The invocation_id is ${id.length} long, over the limit of ${ID_BYTES_MAX}`);
  }
  if (namespace !== undefined && namespace !== 'default') {
    if (namespace.trim() === '') return new Refusal('INVALID_NAMESPACE', 'The namespace must not be blank');
    const text = `Function ${frame.function_id} not found in namespace ${namespace}.`;
    return new Refusal('function_not_found', text);
  }
  const isTimeout = timeoutMs === undefined || (Number.isInteger(timeoutMs) && timeoutMs >= 1);
  if (!isTimeout || (timeoutMs ?? 0) > CALL_TIMEOUT_MS_MAX) {
    const text = `timeout_ms must be a whole number from 1 to ${CALL_TIMEOUT_MS_MAX}, found ${timeoutMs}`;
    return new Refusal('BAD_REQUEST', text);
  }
  return undefined;
}

/** Why a call of it that nobody waits for would come to nothing. */
export function refusalOf(context: RouterContext, functionId: string): Refusal | undefined {
  if (context.functions.get(functionId) === undefined) return refuseUnknown(functionId);
  return context.isDraining ? refusals.shuttingDown() : undefined;
}

/** A text that cannot be an id is nobody's function, now or later. */
function refuseUnknown(functionId: string): Refusal {
  const offence = idOffence(functionId);
  return offence === undefined
    ? refusals.functionNotFound(functionId)
    : new Refusal('BAD_REQUEST', `The function id ${offence}`);
}

function checkLimits(context: RouterContext, request: CallRequest): Refusal | undefined {
  const { from, caller, depth } = request;
  if (depth >= CALL_DEPTH_MAX) {
    const text = `the chain of calls is ${depth} deep, the limit is ${CALL_DEPTH_MAX}`;
    return new Refusal('DEPTH_EXCEEDED', `Call of ${request.functionId} refused: ${text}`);
  }
  if (context.calls.openCount >= context.settings.inFlightMax) {
    const text = `The engine is at its limit of ${context.settings.inFlightMax} calls in flight`;
    return new Refusal('OVERLOADED', text);
  }
  if (from !== undefined && caller === from && from.callsAwaited >= from.limits.inFlightPerCaller) {
    const text = `This connection is at its limit of ${from.limits.inFlightPerCaller} calls in flight`;
    return new Refusal('OVERLOADED', text);
  }
  return shedRefusal(context.pressure, request);
}

/**
 * While draining, what already runs may still make the calls it needs; everything that would begin is refused. The
 * engine itself answers to the end: its health above all.
 */
function checkDrain(context: RouterContext, { from, caller, depth }: CallRequest): Refusal | undefined {
  if (context.isStopped) return refusals.shuttingDown();
  const begins = depth === 0 && (from === undefined || from.inFlight === 0);
  return context.isDraining && (begins || caller === undefined) ? refusals.shuttingDown() : undefined;
}

/** Where context exists already, observers on the way are told what is about to run (wire 5.5). */
function baggageFor(
  context: RouterContext,
  functionId: string,
  traceparent: string | undefined,
  baggage: string | undefined,
): string | undefined {
  if ((traceparent === undefined || traceparent === UNTRACED) && baggage === undefined) return undefined;
  const name = context.settings.isDropIn ? 'iii.function.id' : 'svc.function.id';
  return withBaggageEntry(baggage ?? '', name, functionId);
}

/** Drop-in mode: the peer's own functions are ours under our own name. */
export function ownName(functionId: string): string {
  return functionId.startsWith('iii::') ? `svc::${functionId.slice(5)}` : functionId;
}
