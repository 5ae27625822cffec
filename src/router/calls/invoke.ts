// Calls: from the request to the hand-over.
//
// `json-frames.ts`, `binary-frames.ts` and `call-locally.ts` bring requests. `in-flight.ts` opens and ends calls.
// `waiting.ts` keeps those for which no worker has a place. The checks run in the order of the wire (5.1): action,
// existence, depth, limits, worker.

import { FUNCTION_ENTRY, withBaggageEntry } from '../../core/calls/call-depth.ts';
import { Refusal, refusals, unreadablePayload } from '../../core/calls/refusal.ts';
import { selectWorker } from '../../core/calls/select-worker.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import { UNTRACED } from '../../core/telemetry/spans/context.ts';
import { RUN_BYTES } from '../../core/telemetry/spans/span-rows.ts';
import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { CALL_DEPTH_MAX, idOffence } from '../../protocol/frames/limits.ts';
import type { Payload } from '../../protocol/payload/payload.ts';
import type { Caller, CallRequest, RouterContext, WorkerEntry } from '../context.ts';
import { proofOf } from '../registrations/unproven.ts';
import { newestElsewhere, usableOffers } from '../remote/offers.ts';
import { passTo, relay } from '../remote/relayed-calls.ts';
import type { RemoteEngine } from '../remote/remote-engine.ts';
import { coveringExecutors, selectCovering } from '../restricted/covering.ts';
import { firingRefusal } from '../restricted/firing-rate.ts';
import { isOfRestricted, reachRefusal, rightsFor } from '../restricted/reach.ts';
import { beginCall, contextOf, noteQuiet, noteRefused, spanOf } from '../session/observe.ts';
import type { Session } from '../session/session.ts';
import { type CallerRef, outcomeOf } from './call.ts';
import { dataWithCaller } from './caller-id.ts';
import { enqueue as enqueueCall } from './enqueue.ts';
import { answer, isCausedByRestricted, isRestricted, openCall } from './in-flight.ts';
import { drainRefusal, shedRefusal } from './new-work.ts';
import { runBuiltin } from './run-builtin.ts';
import { callUrl } from './url-functions.ts';
import { busyRefusal, keptRequest, waitForPlace } from './waiting.ts';

/** Carries the call out with its action. */
export function deliver(context: RouterContext, request: CallRequest, enqueue: EnqueueAction | undefined): void {
  if (enqueue === undefined) return invoke(context, request);
  const { caller, ref, functionId, rights } = request;
  const refusal = reachRefusal(rights, functionId);
  if (refusal === undefined) enqueueCall(context, request, enqueue);
  else refuse(context, caller, ref, functionId, refusal);
}

/** Hands the call to its function, or answers it with the refusal. */
export function invoke(context: RouterContext, request: CallRequest): void {
  const hidden = request.rights && reachRefusal(request.rights, request.functionId);
  // Before existence: a caller without access must not learn whether the function exists (X10).
  if (hidden !== undefined) return refuse(context, request.caller, request.ref, request.functionId, hidden);
  if (request.onBehalfOf !== undefined) return passToOwner(context, request.onBehalfOf.engine, request);
  const entry = context.functions.get(request.functionId);
  if (context.moves.size > 0 && mayMoveHere(context, entry, request)) return;
  if (context.unproven.size > 0 && isUnproven(context, request)) return;
  if (entry === undefined && mayComeFromOthers(context, request)) return;
  const refusal =
    entry === undefined
      ? refuseUnknown(request.functionId)
      : (checkLimits(context, request) ?? (entry.kind === 'worker' ? drainRefusal(context, request) : undefined));
  if (refusal !== undefined) refuseObserved(context, request, refusal);
  else if (entry?.kind === 'worker') handOver(context, entry, request);
  else if (entry !== undefined) runBuiltin(context, entry.handler, request);
}

/** The engine that has the connection on whose behalf the call is made judges it, and runs it or passes it on. */
function passToOwner(context: RouterContext, engine: RemoteEngine, request: CallRequest): void {
  const refusal = checkLimits(context, request) ?? passTo(context, engine, request);
  if (refusal !== undefined) refuseObserved(context, request, refusal);
}

/** A trigger of that restricted connection fired at another engine, which passed the call on. */
export function invokeOnBehalfOf(context: RouterContext, workerId: string, request: CallRequest): void {
  const { functionId, caller, ref } = request;
  const owner = context.sessions.get(workerId);
  // It left a moment ago: its triggers leave with it.
  if (owner?.access === undefined)
    return refuse(context, caller, ref, functionId, refusals.functionNotFound(functionId));
  const refusal = firingRefusal(context, owner, functionId);
  if (refusal !== undefined) return refuse(context, caller, ref, functionId, refusal);
  // A worker of a third engine may offer the function.
  invoke(context, { ...request, rights: rightsFor(owner, functionId), isForRestricted: true, relayedBy: undefined });
}

/**
 * Another router of the process may be about to read the registration of the function, which its worker may have sent
 * before this call. Then the call is made again after the others have handled what they have.
 */
function mayComeFromOthers(context: RouterContext, request: CallRequest): boolean {
  const { afterTurnOfOthers } = context;
  if (afterTurnOfOthers === undefined || request.isUnknownElsewhere === true) return false;
  const kept = { ...keptRequest(request), isUnknownElsewhere: true };
  afterTurnOfOthers(() => invoke(context, kept));
  return true;
}

/**
 * Its worker may have just reconnected here: then the call is made again when it has left the other engine. So are the
 * calls of that worker itself, which come after its registrations.
 */
function mayMoveHere(
  context: RouterContext,
  entry: ReturnType<RouterContext['functions']['get']>,
  request: CallRequest,
): boolean {
  const { moves } = context;
  if (request.hasWaitedForMoves === true) return false;
  if (request.from?.heldRegistrations === undefined) {
    if (entry?.kind === 'builtin') return false;
    const moving = new Set([...moves].map(({ engine }) => engine));
    const isHere = entry !== undefined && entry.executors.length > 0;
    if (isHere || entry?.remotes.some(({ engine }) => !moving.has(engine))) return false;
  }
  const kept = { ...keptRequest(request), hasWaitedForMoves: true };
  void Promise.all([...moves].map(({ done }) => done)).then(() => invoke(context, kept));
  return true;
}

/** Another engine may have registered the function before: then the call is made again when that is known. */
function isUnproven(context: RouterContext, request: CallRequest): boolean {
  const { functionId } = request;
  const one = context.unproven.get(functionId);
  if (one === undefined) return false;
  const proof = proofOf(functionId, one);
  if (proof instanceof Refusal) refuseObserved(context, request, proof);
  else {
    const kept = keptRequest(request);
    void proof.then(() => invoke(context, kept));
  }
  return true;
}

/** A call that reached no function is a failed call, and part of its trace. */
export function refuseObserved(context: RouterContext, request: CallRequest, refusal: Refusal): void {
  const { caller, ref, functionId } = request;
  // A flood of fire-and-forget calls must not become a flood of spans.
  const isNoted = caller !== undefined || context.pressure.level < PRESSURE.busy;
  if (isNoted && context.observer !== undefined) noteRefused(context.observer, request, refusal);
  refuse(context, caller, ref, functionId, refusal);
}

function handOver(context: RouterContext, entry: WorkerEntry, request: CallRequest): void {
  if (request.relayedBy === undefined && isNewestElsewhere(entry, request)) {
    const refusal = relay(context, entry, request);
    if (refusal !== undefined) refuseObserved(context, request, refusal);
    return;
  }
  const isForeign = request.isTrustedWork === true && isOfRestricted(context, entry.id);
  // Places that become free are for those that wait already.
  const hasLine = !isForeign && context.waiting.hasLine(entry.id);
  const executor = isForeign ? selectCovering(entry) : hasLine ? undefined : select(context, entry, request);
  if (executor !== undefined) return handTo(context, entry, executor, request);
  const refusal = isForeign ? passForeign(context, entry, request) : passOn(context, entry, request);
  if (refusal !== undefined) refuseObserved(context, request, refusal);
}

function isNewestElsewhere(entry: WorkerEntry, { isTrustedWork }: CallRequest): boolean {
  if (entry.remotes.length === 0 || entry.balance !== 'newest') return false;
  return newestElsewhere(entry, usableOffers(entry, isTrustedWork)) !== undefined;
}

/** No worker of this engine takes the call now: another engine does, or it waits. */
function passOn(context: RouterContext, entry: WorkerEntry, request: CallRequest): Refusal | undefined {
  const isLocal = entry.executors.length > 0;
  if (entry.remotes.length > 0 && request.relayedBy === undefined) {
    const refusal = relay(context, entry, request);
    if (refusal === undefined || !isLocal) return refusal;
  }
  return isLocal ? waitForPlace(context, entry, request) : refuseUnknown(entry.id);
}

/** Hands the call to that worker, which has a place for it. */
export function handTo(context: RouterContext, entry: WorkerEntry, executor: Session, request: CallRequest): void {
  const refusal = checkShare(context, request, executor) ?? checkPayload(context, executor, request);
  if (refusal !== undefined) return refuseObserved(context, request, refusal);
  request.handed?.(executor.displayName);
  const url = executor.urlFunctions.size === 0 ? undefined : executor.urlFunctions.get(entry.id);
  const canBeUntraced = url === undefined && executor.wire.canSayUntraced && !context.settings.isDropIn;
  const begun = context.observer && beginCall(context.observer, entry.id, request, canBeUntraced);
  if (url !== undefined) return callUrl(context, url, request, begun);
  const span = spanOf(begun);
  span?.add('svc.worker', executor.displayName);
  span?.add(RUN_BYTES.input, String(request.data?.byteLength ?? 0));
  const call = openCall(context, entry.id, executor, request, span);
  const traceparent = contextOf(begun, request.traceparent);
  noteQuiet(context, call, executor, traceparent);
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

/** Restricted connections never take all places of a trusted worker. */
function select({ functions }: RouterContext, entry: WorkerEntry, request: CallRequest): Session | undefined {
  const chosen = functions.select(entry);
  if (chosen === undefined || !isCausedByRestricted(request) || chosen.takesRestrictedCalls) return chosen;
  if (entry.balance === 'newest') return undefined;
  const executors = entry.executors.filter(({ takesRestrictedCalls }) => takesRestrictedCalls);
  return selectWorker({ executors, next: 0 }, entry.balance);
}

/** For trusted work that waits for its worker, a function that only restricted connections offer does not exist. */
function passForeign(context: RouterContext, entry: WorkerEntry, request: CallRequest): Refusal | undefined {
  if (request.relayedBy === undefined && usableOffers(entry, true).length > 0) return relay(context, entry, request);
  return coveringExecutors(entry).length === 0 ? refuseUnknown(entry.id) : busyRefusal(entry.id);
}

/** Bytes of the binary wire are passed on unchecked, and checked as JSON where they must be text. */
function checkPayload(context: RouterContext, executor: Session, request: CallRequest): Refusal | undefined {
  const { data, metadata, functionId } = request;
  if (data !== undefined && !isReadable(context, executor, data))
    return unreadablePayload(`the payload for ${functionId}`, data);
  if (metadata !== undefined && !isReadable(context, executor, metadata)) {
    return unreadablePayload(`the metadata for ${functionId}`, metadata);
  }
  return undefined;
}

/** Drop-in mode opens the payload on the way. */
function isReadable(context: RouterContext, executor: Session, payload: Payload): boolean {
  return executor.wire.admit(payload) && (!context.settings.isDropIn || payload.asText() !== undefined);
}

/** Answers a caller that waits. A fire-and-forget call is counted as dropped (V1). */
export function refuse(
  context: RouterContext,
  caller: Caller | undefined,
  ref: CallerRef,
  functionId: string,
  refusal: Refusal,
): void {
  if (caller === undefined) context.counters.count('invocations.void_dropped', refusal.code);
  else answer(caller, ref, functionId, { ...outcomeOf(refusal), isUnhanded: MAY_BE_TRIED_ELSEWHERE.has(refusal.code) });
}

/** Refusals of this engine, and not of the call: the worker is gone or has no place, or the engine drains. */
const MAY_BE_TRIED_ELSEWHERE: ReadonlySet<string> = new Set(['function_not_found', 'OVERLOADED', 'SHUTTING_DOWN']);

/** Why a fire-and-forget call of the function would be lost. */
export function refusalOf(context: RouterContext, functionId: string): Refusal | undefined {
  if (context.functions.get(functionId) === undefined) return refuseUnknown(functionId);
  return context.isDraining ? refusals.shuttingDown() : undefined;
}

/** A text that cannot be an id names no function, now or later. */
export function refuseUnknown(functionId: string): Refusal {
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
  if (context.calls.processCount >= context.settings.inFlightMax) {
    const text = `The engine is at its limit of ${context.settings.inFlightMax} calls in flight`;
    return new Refusal('OVERLOADED', text);
  }
  const share = checkShare(context, request);
  if (share !== undefined) return share;
  if (from !== undefined && caller === from && from.callsAwaited >= from.limits.inFlightPerCaller) {
    const text = `This connection is at its limit of ${from.limits.inFlightPerCaller} calls in flight`;
    return new Refusal('OVERLOADED', text);
  }
  return shedRefusal(context.pressure, request);
}

/** Restricted connections never take the places that trusted callers need. */
function checkShare({ calls, settings }: RouterContext, request: CallRequest, executor?: Session): Refusal | undefined {
  const { restrictedCount } = calls;
  if (2 * restrictedCount < settings.inFlightMax || !isRestricted(request, executor)) return undefined;
  const text =
    `Connections of restricted ports have ${restrictedCount} calls in flight together, ` +
    'half of limits.engine.in_flight; the others are for trusted callers';
  return new Refusal('OVERLOADED', text);
}

/** Where context exists already, observers learn on the way what is about to run (wire 5.5). */
function baggageFor(
  context: RouterContext,
  functionId: string,
  traceparent: string | undefined,
  baggage: string | undefined,
): string | undefined {
  if ((traceparent === undefined || traceparent === UNTRACED) && baggage === undefined) return undefined;
  const name = context.settings.isDropIn ? 'iii.function.id' : FUNCTION_ENTRY;
  return withBaggageEntry(baggage ?? '', name, functionId);
}

/** Drop-in mode: functions of `iii` are the engine's functions under the engine's name. */
export function ownName(functionId: string): string {
  return functionId.startsWith('iii::') ? `svc::${functionId.slice(5)}` : functionId;
}
