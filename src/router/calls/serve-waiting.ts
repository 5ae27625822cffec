// Hands waiting calls to workers that have places again, and ends those that wait in vain.

import { type PendingOf, workersInKnots } from '../../core/calls/knots.ts';
import { type Refusal, refusals } from '../../core/calls/refusal.ts';
import type { WaitingCall } from '../../core/calls/waiting-calls.ts';
import type { CallRequest, RouterContext, WaitingOwner, WorkerEntry } from '../context.ts';
import { relay } from '../remote/relayed-calls.ts';
import { isOfRestricted } from '../restricted/reach.ts';
import { Session } from '../session/session.ts';
import { handTo, refuseObserved, refuseUnknown } from './invoke.ts';
import { drainRefusal } from './new-work.ts';
import { lateRefusal } from './waiting.ts';

type Waiting = WaitingCall<WaitingOwner, CallRequest>;

/**
 * To be called with each worker that has a place again. The calls leave when the code that freed the place is done, and
 * still in the same turn.
 */
export function servingFreedPlaces(contextOf: () => RouterContext): (worker: Session) => void {
  const freed = new Set<Session>();
  return (worker) => {
    if (freed.size === 0) {
      queueMicrotask(() => {
        const workers = [...freed];
        freed.clear();
        serve(contextOf(), workers);
      });
    }
    freed.add(worker);
  };
}

/** Called every `DEADLINE_STEP_MS`: places also come with new workers, higher limits and read messages. */
export function serveWaiting(context: RouterContext): void {
  const { waiting, clock, counters } = context;
  for (const call of waiting.takeExpired(clock.monotonicMs())) {
    counters.count('invocations.timed_out');
    refuseWaiting(context, call, lateRefusal(call));
  }
  serve(context, undefined);
  if (waiting.ofHandlers.size > 0) serveKnots(context);
}

/** The drain has begun, or is over: calls that may not be made any more are refused. */
export function refuseWaitingInDrain(context: RouterContext): void {
  for (const call of context.waiting.takeWhere(({ request }) => drainRefusal(context, request) !== undefined)) {
    refuseWaiting(context, call, refusals.shuttingDown());
  }
}

/** One call of each function in turn, as long as there are places. `workers`: those that may have some. */
function serve(context: RouterContext, workers: readonly Session[] | undefined): void {
  for (let served = true; served; ) {
    served = false;
    for (const id of context.waiting.functionIds()) {
      if (workers?.some(({ functions }) => functions.has(id)) === false) continue;
      served = serveNext(context, id) || served;
    }
  }
}

/** Whether a call of the function has left the line. */
function serveNext(context: RouterContext, functionId: string): boolean {
  const { functions, waiting, calls, settings } = context;
  const entry = functions.get(functionId);
  if (entry?.kind !== 'worker') {
    const call = waiting.take(functionId);
    if (call !== undefined) refuseWaiting(context, call, refuseUnknown(functionId));
    return call !== undefined;
  }
  if (calls.processCount >= settings.inFlightMax) return false;
  if (entry.executors.length === 0) return relayWaiting(context, entry);
  const executor = functions.select(entry);
  const call = executor && waiting.take(functionId);
  if (executor === undefined || call === undefined) return false;
  handWaiting(context, call, entry, executor);
  return true;
}

/** The last worker of this engine has left. Whether a call has left the line. */
function relayWaiting(context: RouterContext, entry: WorkerEntry): boolean {
  const call = context.waiting.take(entry.id);
  if (call === undefined) return false;
  const { request } = call;
  leave(call);
  const refusal = request.relayedBy === undefined ? relay(context, entry, request) : refuseUnknown(entry.id);
  if (refusal !== undefined) refuseObserved(context, request, refusal);
  return true;
}

/**
 * Handlers can wait for places that they hold themselves. Then a call runs in the place of the handler that waits for
 * it: a few at a time, so that a worker with a low limit still runs no more than that.
 */
function serveKnots(context: RouterContext): void {
  const knotted = workersInKnots(pendingOfHandlers(context));
  for (const worker of knotted) {
    let left = Math.max(1, Math.floor(worker.inFlightMax / KNOT_SHARE));
    for (const call of context.waiting.ofHandlers) {
      if (left === 0) break;
      const entry = call.owner === worker ? context.functions.get(call.functionId) : undefined;
      const executor = entry?.kind === 'worker' ? entry.executors.find(({ isAccepting }) => isAccepting) : undefined;
      if (entry?.kind !== 'worker' || executor === undefined) continue;
      left--;
      context.waiting.remove(call);
      handWaiting(context, call, entry, executor);
    }
  }
}

function* pendingOfHandlers({ waiting, calls, functions }: RouterContext): Generator<PendingOf<Session>> {
  for (const { owner, functionId } of waiting.ofHandlers) {
    const entry = functions.get(functionId);
    if (owner instanceof Session) yield { caller: owner, targets: entry?.kind === 'worker' ? entry.executors : [] };
  }
  for (const { origin, executor, isOfHandler } of calls.allOpen()) {
    if (!isOfHandler || !(origin instanceof Session)) continue;
    yield { caller: origin, targets: executor instanceof Session ? [executor] : [] };
  }
}

function handWaiting(context: RouterContext, call: Waiting, entry: WorkerEntry, executor: Session): void {
  const { request, dueMs } = call;
  // Its function belongs to others than when it began to wait.
  if (request.isTrustedWork === true && isOfRestricted(context, entry.id)) {
    return refuseWaiting(context, call, refuseUnknown(entry.id));
  }
  leave(call);
  // The time of a job begins when its handler does.
  const remainingMs = Math.max(1, Math.ceil(dueMs - context.clock.monotonicMs()));
  handTo(context, entry, executor, request.isJob === true ? request : { ...request, timeoutMs: remainingMs });
}

function refuseWaiting(context: RouterContext, call: Waiting, refusal: Refusal): void {
  leave(call);
  refuseObserved(context, call.request, refusal);
}

/** `openCall` counts it again. */
function leave({ request }: Waiting): void {
  if (request.caller instanceof Session) request.caller.callsAwaited--;
}

/** At a time an eighth of the worker's limit, at least one. */
const KNOT_SHARE = 8;
