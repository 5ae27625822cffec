// A connection is gone: everything it owned leaves in one step, so no observer sees it half done (W2).
//
// The step is synchronous from the first line to the last, so no frame of another connection is handled in between.
// Every removal checks that the entry still belongs to this session, so a successor that registered the same ids keeps
// them (W3).

import { type Refusal, refusals } from '../../core/calls/refusal.ts';
import { orphanCalls } from '../calls/settle.ts';
import type { RouterContext } from '../context.ts';
import { noteWorkerLeft } from '../session/observe.ts';
import type { Session, SessionEnd } from '../session/session.ts';
import { tellProviderOfRemoval } from '../triggers/triggers.ts';
import { reserve } from './reserve.ts';

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
  session.outbox.close();
  let functionsChanged = false;
  for (const id of session.functions) functionsChanged = context.functions.unregister(id, session) || functionsChanged;
  if (session.access === undefined) renewReservations(context, session);
  const removed = context.triggers.withdraw(session);
  context.sessions.delete(session.workerId);
  orphanCalls(context, session, reasonForCallers);
  for (const binding of removed) tellProviderOfRemoval(context, binding, 'left');
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
