// Calls that another engine of the cluster runs, because no worker of this one does.

import { forwardedRights } from '../../core/access/kept-rights.ts';
import { Refusal, refusals, unreadablePayload } from '../../core/calls/refusal.ts';
import { selectEngine } from '../../core/cluster/select-engine.ts';
import type { EnqueueAction } from '../../protocol/frames/frames.ts';
import { outcomeOf } from '../calls/call.ts';
import { dataWithCaller } from '../calls/caller-id.ts';
import { openCall, release, settle } from '../calls/in-flight.ts';
import { keptRequest } from '../calls/waiting.ts';
import type { CallRequest, HandedCall, RouterContext, WorkerEntry } from '../context.ts';
import { newestElsewhere, usableOffers } from './offers.ts';
import type { RemoteEngine } from './remote-engine.ts';

/**
 * Hands the call to another engine that reaches the function. `undefined`: it was handed over. A call that came from
 * another engine stays here: it would go in circles.
 */
export function relay(context: RouterContext, entry: WorkerEntry, request: CallRequest): Refusal | undefined {
  const offers = usableOffers(entry, request.isTrustedWork);
  if (offers.length === 0) return refusals.functionNotFound(entry.id);
  const newest = newestElsewhere(entry, offers);
  const engines = newest === undefined ? offers.map(({ engine }) => engine) : [newest];
  const engine = select(context, engines);
  if (engine === undefined) return refusalOf(entry.id, engines);
  const unreadable = unreadablePart(entry.id, engine, request);
  if (unreadable !== undefined) return unreadable;
  const slot = relayTo(context, entry.id, engine, request);
  // Where nothing else reaches the function, the payload need not be kept.
  const hasOthers = offers.length > 1 || entry.executors.length > 0;
  if (hasOthers && engine.isUp) context.repeatable.set(slot, keptRequest(request));
  return undefined;
}

/**
 * The engine refused the call, and no worker has seen it: it is tried once on another engine, or on this one. Returns
 * the call that this engine has to run; `undefined`: it is handed over. False: nothing else reaches the function, or it
 * was tried before.
 */
export function relayAgain(
  context: RouterContext,
  refusing: RemoteEngine,
  call: HandedCall,
): CallRequest | undefined | false {
  const request = context.repeatable.get(call.slot);
  const entry = context.functions.get(call.functionId);
  if (request === undefined || entry?.kind !== 'worker') return false;
  const isLocal = entry.executors.length > 0;
  const rest = usableOffers(entry, request.isTrustedWork).filter(({ engine }) => engine !== refusing);
  const newest = newestElsewhere(entry, rest);
  const isNewestHere = entry.balance === 'newest' && newest === undefined && isLocal;
  const engines = newest === undefined ? rest.map(({ engine }) => engine) : [newest];
  const engine = isNewestHere ? undefined : select(context, engines);
  if (engine === undefined && !isLocal) return false;
  if (engine !== undefined && unreadablePart(call.functionId, engine, request) !== undefined) return false;
  const { origin: caller, functionId, deadlineMs } = call;
  const timeoutMs = Math.max(1, deadlineMs - context.clock.monotonicMs());
  release(context, call);
  context.counters.count('cluster.calls_tried_again');
  const again = { ...request, caller, timeoutMs };
  // It goes to no third engine.
  if (engine === undefined) return { ...again, relayedBy: refusing.id };
  relayTo(context, functionId, engine, again);
  return undefined;
}

/** Another router of this process comes before other engines, unless the process drains. */
function select(context: RouterContext, engines: readonly RemoteEngine[]): RemoteEngine | undefined {
  const { settings, random, otherRouters } = context;
  const fraction = (): number => random.fraction();
  if (otherRouters.size === 0) return selectEngine(engines, settings.zone, fraction);
  const routers = engines.filter(({ isRouter, isDraining }) => isRouter && !isDraining);
  return selectEngine(routers, settings.zone, fraction) ?? selectEngine(engines, settings.zone, fraction);
}

/** Hands the call to that engine. Returns the slot of the call. */
export function relayTo(
  context: RouterContext,
  functionId: string,
  engine: RemoteEngine,
  request: CallRequest & { readonly enqueue?: EnqueueAction | undefined },
  ended?: () => void,
): number {
  request.handed?.(`engine ${engine.shownId}`);
  const call = openCall(context, functionId, engine, request, undefined);
  const { slot, generation } = call;
  if (ended !== undefined) context.afterCalls.set(slot, ended);
  // Announcing shapes can fill the way to the engine, and end the session.
  // The other engine does not know who calls.
  const isForWorker = request.forwardedFor === undefined;
  const isNamed = context.settings.isDropIn && isForWorker;
  const sent = isNamed ? { ...request, data: dataWithCaller(request) } : request;
  if (!engine.sendCall(functionId, slot, generation, sent)) {
    const refusal = unreachable(functionId, engine);
    countIfDropped(context, call, refusal.code);
    settle(context, call, outcomeOf(refusal));
  }
  return slot;
}

/** A call without a caller that no worker got: nothing else says so (V1). */
export function countIfDropped(context: RouterContext, call: HandedCall, code: string): void {
  if (call.origin === undefined) context.counters.count('invocations.void_dropped', code);
}

/**
 * Hands a call to the first router of the process, which has the modules of the engine. `enqueue`: it becomes a job.
 * `ended`: called when it is answered, or has no answer. `undefined`: it was handed over.
 */
export function forward(
  context: RouterContext,
  home: RemoteEngine,
  request: CallRequest,
  { enqueue, ended }: { readonly enqueue?: EnqueueAction; readonly ended?: () => void } = {},
): Refusal | undefined {
  const { from, rights } = request;
  const forwardedFor = {
    ...(from !== undefined && { worker: from.workerId, name: from.displayName }),
    ...(rights !== undefined && { rights: forwardedRights(rights) }),
  };
  return passTo(context, home, { ...request, forwardedFor, enqueue }, ended);
}

/** Hands the call to this engine, whether or not it offers the function. `undefined`: it was handed over. */
export function passTo(
  context: RouterContext,
  engine: RemoteEngine,
  request: CallRequest & { readonly enqueue?: EnqueueAction | undefined },
  ended?: () => void,
): Refusal | undefined {
  const { functionId } = request;
  if (!engine.isAccepting) return refusalOf(functionId, [engine]);
  const unreadable = unreadablePart(functionId, engine, request);
  if (unreadable === undefined) relayTo(context, functionId, engine, request, ended);
  return unreadable;
}

/** Announces the shapes of the payloads, too. JSON is checked by the engine that runs the call. */
function unreadablePart(
  functionId: string,
  engine: RemoteEngine,
  { data, metadata }: CallRequest,
): Refusal | undefined {
  if (data !== undefined && !engine.admit(data)) return unreadablePayload(`the payload for ${functionId}`, data);
  if (metadata === undefined || engine.admit(metadata)) return undefined;
  return unreadablePayload(`the metadata for ${functionId}`, metadata);
}

/** The session with the engine has ended: its calls end with an unknown effect, as those of a lost worker do. */
export function settleCallsOf(context: RouterContext, engine: RemoteEngine, reason: string): void {
  if (engine.inFlight === 0) return;
  const text = `Invocation stopped: the connection to engine ${engine.shownId} ended (${reason})`;
  const refusal = new Refusal('invocation_stopped', `${text}; whether it took effect is unknown`);
  for (const call of context.calls.allOpen()) {
    if (call.isOpen && call.executor === engine) settleLost(context, call, refusal);
  }
}

/** The other engine counts the calls that it answers. These it could not answer. */
function settleLost(context: RouterContext, call: HandedCall, refusal: Refusal): void {
  call.isCounted = call.origin !== undefined;
  settle(context, call, { ...outcomeOf(refusal), isEngineLost: true });
}

function refusalOf(functionId: string, engines: readonly RemoteEngine[]): Refusal {
  if (engines.some(({ isUp }) => isUp)) {
    const text = `No engine that reaches ${functionId} has room for another call: they do not read fast enough`;
    return new Refusal('OVERLOADED', text);
  }
  return unreachable(functionId, engines[0]);
}

function unreachable(functionId: string, engine: RemoteEngine | undefined): Refusal {
  const text = `${functionId} runs on another engine of the cluster, which cannot be reached now`;
  return new Refusal('ENGINE_UNREACHABLE', `${text} (engine ${engine?.shownId}: ${engine?.trouble})`);
}
