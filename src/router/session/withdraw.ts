// How a connection ends: everything it owned leaves in one step, so no observer sees it half done (W2).
//
// The step is synchronous from the first line to the last, so no frame of another connection is handled in between.
// Every removal checks that the entry still belongs to this session, so a successor that registered the same ids keeps
// them (W3). The `close…` functions are the reasons for which the engine itself ends a connection.

import { type Refusal, refusals } from '../../core/calls/refusal.ts';
import { CLOSE_CODES, PROVE_AGAIN } from '../../protocol/frames/close-codes.ts';
import { orphanCalls } from '../calls/in-flight.ts';
import { dropWaitingOf } from '../calls/waiting.ts';
import type { RouterContext } from '../context.ts';
import { reserve } from '../registrations/functions.ts';
import { sendRemoval } from '../triggers/triggers.ts';
import { noteWorkerLeft } from './observe.ts';
import type { Session, SessionEnd } from './session.ts';

/** A name counts as used until its holder leaves, however long that one was connected. */
function renewReservations(context: RouterContext, { functions, triggerTypes }: Session): void {
  for (const id of functions) reserve(context, 'function', id);
  for (const id of triggerTypes) reserve(context, 'trigger type', id);
}

export function withdraw(
  context: RouterContext,
  session: Session,
  end: SessionEnd,
  reasonForCallers: Refusal = refusals.stopped(),
): void {
  if (session.state === 'closed') return;
  session.state = 'closed';
  session.sendQueue.close();
  let functionsChanged = false;
  for (const id of session.functions) functionsChanged = context.functions.unregister(id, session) || functionsChanged;
  if (session.access === undefined) renewReservations(context, session);
  const removed = context.triggers.withdraw(session);
  context.sessions.delete(session.workerId);
  orphanCalls(context, session, reasonForCallers);
  dropWaitingOf(context, session);
  for (const binding of removed) sendRemoval(context, binding, 'left');
  // Before anything else: the next event finds the trigger bound again.
  context.typeClaims.left(session);
  context.triggerClaims.left(session);
  context.typeClaims.released(session.triggerTypes);
  context.triggerClaims.released(session.triggers);
  if (session.access?.channelShare !== undefined) context.channels.makerLeft(session.access.channelShare);
  noteWorkerLeft(context, session);
  session.link.disconnect(end);
  if (functionsChanged) context.announce.functionsChanged();
  context.announce.workerEvent('worker_disconnected', session.workerId);
}

/** Ends a connection that has to authenticate again (X12). */
export function closeExpired(context: RouterContext, session: Session, reason: string): void {
  context.counters.count('connections.closed', 'prove_again');
  withdraw(context, session, { code: PROVE_AGAIN, reason });
}

/** Ends a connection that did nothing since it connected. */
export function closeIdle(context: RouterContext, session: Session): void {
  context.counters.count('connections.closed', 'never_used');
  const reason = 'nothing was registered or called in time';
  withdraw(context, session, { code: CLOSE_CODES.notRegistered, reason });
}

/** Ends a connection whose client was silent too long. */
export function closeSilent(context: RouterContext, session: Session, silentMs: number): void {
  context.counters.count('connections.closed', 'silent');
  context.logger.warn(
    'Connection closed: nothing was heard from the worker. A handler that blocks its event loop does this',
    {
      worker: session.displayName,
      silent_ms: Math.round(silentMs),
    },
  );
  // A client that does not answer pings will not answer a close frame either.
  withdraw(context, session, 'terminate');
}

/** Ends a connection whose client does not read what it is sent. */
export function closeSlow(context: RouterContext, session: Session, bytes: number): void {
  context.counters.count('connections.closed', 'too_slow');
  context.logger.warn('Connection closed: the worker does not read what it is sent', {
    worker: session.displayName,
    buffered_bytes: bytes,
  });
  const reason = `${bytes} bytes wait to be read`;
  withdraw(context, session, { code: CLOSE_CODES.tooSlow, reason });
}
