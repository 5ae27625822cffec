// Calls that no worker has a place for: which of them wait in the line of their function, and how waiting ends without
// a place. `serve-waiting.ts` hands them over.

import { Refusal } from '../../core/calls/refusal.ts';
import type { WaitingCall } from '../../core/calls/waiting-calls.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import { detach } from '../../protocol/json/byte-string.ts';
import type { CallRequest, RouterContext, WaitingOwner, WorkerEntry } from '../context.ts';
import { Session } from '../session/session.ts';
import { isCausedByRestricted, isOfHandler } from './in-flight.ts';

/** Puts the call into the line of its function, or returns why it cannot wait. */
export function waitForPlace(context: RouterContext, entry: WorkerEntry, request: CallRequest): Refusal | undefined {
  const { waiting, pressure, counters, clock } = context;
  const { id } = entry;
  if (isCausedByRestricted(request)) {
    return busyRefusal(id, `. ${OF_RESTRICTED}`);
  }
  // A refusal under pressure is final: what waited would be refused later, after it had cost memory.
  if (pressure.level >= PRESSURE.shed || !canEndWaiting(entry, waiting.hasLine(id))) return busyRefusal(id);
  const bytes = CALL_BYTES + (request.data?.byteLength ?? 0) + (request.metadata?.byteLength ?? 0);
  const owner = ownerOf(request);
  const full = waiting.fullLimit(owner, bytes);
  if (full !== undefined) {
    const limit = `limits.engine.${full} allows no more, one caller half`;
    return busyRefusal(id, `, and ${waiting.size} calls wait in the engine: ${limit}`);
  }
  const sinceMs = clock.monotonicMs();
  if (request.caller instanceof Session) request.caller.callsAwaited++;
  counters.count('invocations.waited');
  waiting.add({
    functionId: id,
    owner,
    isOfHandler: isOfHandler(request),
    request: keptRequest(request),
    bytes,
    sinceMs,
    dueMs: sinceMs + request.timeoutMs,
  });
  return undefined;
}

export function busyRefusal(functionId: string, more = ''): Refusal {
  const text = `Every worker that offers ${functionId} is at its limit of running calls or buffered bytes${more}`;
  return new Refusal('OVERLOADED', text);
}

/** Its deadline has passed. */
export function lateRefusal({ functionId, dueMs, sinceMs }: WaitingCall<WaitingOwner, CallRequest>): Refusal {
  const text = `invocation timed out after ${Math.round(dueMs - sinceMs)}ms`;
  return new Refusal('TIMEOUT', `${text} (${functionId}: every worker was at its limit of running calls)`);
}

/** The caller is gone: its calls have not begun, and never will. Those without a caller go on waiting. */
export function dropWaitingOf({ waiting }: RouterContext, session: Session): void {
  if (waiting.size > 0) waiting.takeWhere(({ request }) => request.caller === session);
}

/**
 * A worker that does not read what it is sent frees no place by ending a call. Where others wait already, a worker can
 * have a place: a result and the next calls arrive in one turn, and the line moves at the end of the turn.
 */
function canEndWaiting({ executors, balance }: WorkerEntry, hasLine: boolean): boolean {
  const candidates = balance === 'newest' ? executors.slice(-1) : executors;
  return candidates.some(
    ({ isAccepting, inFlight, inFlightMax }) => isAccepting && (hasLine || inFlight >= inFlightMax),
  );
}

function ownerOf({ from, trigger, relayedBy }: CallRequest): WaitingOwner {
  return from ?? trigger?.type ?? relayedBy ?? 'engine';
}

/** The request with copies of what was part of a message. */
export function keptRequest(request: CallRequest): CallRequest {
  const { ref, traceparent, baggage } = request;
  return {
    ...request,
    data: request.data?.kept(),
    metadata: request.metadata?.kept(),
    ref: typeof ref === 'string' ? detach(ref) : ref,
    traceparent: traceparent && detach(traceparent),
    baggage: baggage && detach(baggage),
  };
}

const OF_RESTRICTED = 'Restricted ports have half of the places of a worker, and their calls do not wait';

/** What a waiting call takes besides its payload, as measured. */
const CALL_BYTES = 512;
