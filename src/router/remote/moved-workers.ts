// A worker that lost its connection to one engine of the cluster and reconnects to another. Its old engine may not know
// yet that the connection is dead: it would hand calls to it, and its registrations would contradict the new ones.
//
// Invariant: the new registrations count after the old engine has withdrawn the old ones, or has not answered in time.

import { equalSecrets } from '../../effects/random.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { Reattach, WorkerFrame } from '../../protocol/frames/frames.ts';
import { type RawJson, rawJson } from '../../protocol/json/byte-string.ts';
import { Payload } from '../../protocol/payload/payload.ts';
import type { Inheritance, RouterContext } from '../context.ts';
import { holderOf } from '../restricted/id-claims.ts';
import { holdTurns } from '../restricted/registration-hooks.ts';
import type { Session } from '../session/session.ts';
import { withdraw } from '../session/withdraw.ts';
import { askEngine, parseAnswer } from './ask-engines.ts';
import { allOthers } from './offers.ts';
import type { RemoteEngine } from './remote-engine.ts';

/** A worker has connected elsewhere: its connection here, and its proof. */
export interface Move {
  readonly workerId: string;
  readonly token: string;
  /** Its connection to another router of this process; absent: it is connected to another engine. */
  readonly successorId: string | undefined;
}

export const WORKERS_REPLACE = 'engine::workers::replace';

/** Then the old engine is given up, or finds out itself. */
const ANSWER_MS_MAX = 1_000;

/** The engine of the cluster, or the router of this process, that gave the token. */
export function engineOfToken(context: RouterContext, token: string): RemoteEngine | undefined {
  return allOthers(context).find((engine) => engine.isUp && engine.gaveToken(token));
}

const HELD: ReadonlySet<WorkerFrame<RawJson>['type']> = new Set([
  'registerfunction',
  'unregisterfunction',
  'registertrigger',
  'unregistertrigger',
  'registertriggertype',
  'unregistertriggertype',
]);

/** Whether the frame waits until the old engine of the worker has answered. */
export function isHeld({ heldRegistrations, access }: Session, frame: WorkerFrame<RawJson>): boolean {
  // Those of a restricted connection wait for their turn, before they are judged.
  if (heldRegistrations === undefined || access !== undefined || !HELD.has(frame.type)) return false;
  heldRegistrations.push(frame);
  return true;
}

/** Ends the connection that the worker had at the other engine. `act`: carries out what was held meanwhile. */
export function takeOver(
  context: RouterContext,
  session: Session,
  { engine, reattach }: { readonly engine: RemoteEngine; readonly reattach: Reattach },
  act: (frame: WorkerFrame<RawJson>) => void,
): void {
  session.heldRegistrations ??= [];
  const goOn = session.guard && holdTurns(session, session.guard);
  const { previous_worker_id, reattach_token } = reattach;
  const successor = engine.isRouter ? { successor_id: session.workerId } : {};
  const payload = Payload.ofText(rawJson({ previous_worker_id, reattach_token, ...successor }));
  const done = askEngine(context, engine, WORKERS_REPLACE, payload, ANSWER_MS_MAX).then(({ result }) => {
    context.moves.delete(move);
    const withdrawn = result === undefined ? undefined : readWithdrawn(result);
    context.counters.count(withdrawn === undefined ? 'reattach.refused' : 'reattach.moved');
    for (const id of withdrawn ?? []) {
      // The bucket of registrations reports the same later.
      engine.functions.delete(id);
      context.functions.withdrawRemotely(id, engine);
    }
    const held = session.heldRegistrations ?? [];
    session.heldRegistrations = undefined;
    for (const frame of held) if (session.state === 'open') act(frame);
    goOn?.();
  });
  const move = { engine, done };
  context.moves.add(move);
}

/** The worker is connected to another engine now. Returns the functions that no worker of this one offers any more. */
export function replaceMoved(context: RouterContext, { workerId, token, successorId }: Move): string[] | undefined {
  const previous = context.sessions.get(workerId);
  if (previous === undefined || !equalSecrets(token, previous.reattachToken)) return undefined;
  const ids = [...previous.functions];
  if (successorId !== undefined) leaveIds(context, previous, successorId);
  withdraw(context, previous, { code: CLOSE_CODES.replaced, reason: 'the worker connected to another engine' });
  return ids.filter((id) => {
    const entry = context.functions.get(id);
    return entry?.kind !== 'worker' || entry.executors.length === 0;
  });
}

/** Before they are free: all routers keep them for the successor, wherever others wait for them. */
export function leaveIds(context: RouterContext, previous: Session, successorId: string): void {
  const { prefix, idsMax, workerId: previousId } = holderOf(previous);
  const { triggerClaims, typeClaims, announceInheritance } = context;
  const triggers = [...triggerClaims.inheritedBy(previous), ...previous.triggers];
  const types = [...typeClaims.inheritedBy(previous), ...previous.triggerTypes];
  const inheritance = { previousId, successorId, prefix, idsMax, triggers, types };
  keepIds(context, inheritance);
  announceInheritance?.(inheritance);
}

/** A connection of the process has moved: its ids are kept for where it is now. */
export function keepIds(context: RouterContext, inheritance: Inheritance): void {
  const { previousId, successorId, prefix, idsMax, triggers, types } = inheritance;
  const successor = context.sessions.get(successorId);
  const heir = successor === undefined ? { workerId: successorId, prefix, idsMax } : holderOf(successor);
  context.triggerClaims.inherit(previousId, heir, triggers);
  context.typeClaims.inherit(previousId, heir, types);
}

function readWithdrawn(json: Uint8Array): string[] | undefined {
  const answer = parseAnswer(json);
  if (typeof answer !== 'object' || answer === null || !('functions' in answer)) return undefined;
  const { functions } = answer;
  return Array.isArray(functions) ? functions.filter((id) => typeof id === 'string') : undefined;
}
