// Functions with `balance: reject_duplicates` on an engine of a cluster. Two engines can register one at the same time.
// A registration counts on its engine when everything that was registered before it is known there. Calls wait for
// that.
//
// Invariant: of two such registrations none runs a call before the engines agree which one remains.

import { Refusal } from '../../core/calls/refusal.ts';
import type { RouterContext, UnprovenFunction } from '../context.ts';

/** An answer of NATS takes some milliseconds. */
const PROOF_MS_MAX = 1_000;
const WAITING_MAX = 1_000;

/** Its registration is not proven yet. */
export function beginProof({ unproven, clock }: RouterContext, id: string): void {
  if (unproven.get(id)?.isLate === false) return;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const cancel = clock.after(PROOF_MS_MAX, () => {
    one.isLate = true;
    end();
  });
  const one: UnprovenFunction = { ended, end, cancel, waiting: 0, isLate: false };
  unproven.set(id, one);
}

export function endProof({ unproven }: RouterContext, id: string): void {
  const one = unproven.get(id);
  unproven.delete(id);
  one?.cancel();
  one?.end();
}

/** To be called for each function whose workers have changed. */
export function endProofOfGone(context: RouterContext, id: string): void {
  const { functions, unproven } = context;
  if (!unproven.has(id)) return;
  const entry = functions.get(id);
  if (entry?.kind !== 'worker' || entry.executors.length === 0) endProof(context, id);
}

/** What a call of the function has to wait for, or why it cannot. */
export function proofOf(id: string, one: UnprovenFunction): Promise<void> | Refusal {
  const text = `${id} is registered, and balance is reject_duplicates: NATS has not confirmed the registration yet`;
  if (one.isLate) return new Refusal('ENGINE_UNREACHABLE', text);
  if (one.waiting >= WAITING_MAX) return new Refusal('OVERLOADED', `${text}, and ${WAITING_MAX} calls wait for that`);
  one.waiting++;
  return one.ended;
}
