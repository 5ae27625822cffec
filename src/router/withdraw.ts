// A connection is gone: everything that was its own leaves in one step that nobody sees half done (W2).
//
// The step is synchronous from the first line to the last, so no frame of another connection is handled between.
// Every removal asks "is it still this session's?", so a successor that registered the same ids keeps them (W3).

import { type Refusal, refusals } from '../core/refusal.ts';
import type { RouterContext } from './context.ts';
import { noteWorkerLeft } from './observe.ts';
import type { Session, SessionEnd } from './session.ts';
import { orphanCalls } from './settle.ts';
import { tellProviderOfRemoval } from './triggers.ts';

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
  const removed = context.triggers.withdraw(session);
  context.sessions.delete(session.workerId);
  orphanCalls(context, session, reasonForCallers);
  for (const binding of removed) tellProviderOfRemoval(context, binding);
  noteWorkerLeft(context, session);
  session.link.disconnect(end);
  if (functionsChanged) context.announce.functionsChanged();
  context.announce.workerEvent('worker_disconnected', session.workerId);
}
