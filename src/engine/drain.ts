// The end of a router: it refuses new work, lets running work finish, and closes its connections (G1).

import type { Cluster } from '../cluster/cluster.ts';
import { refusals } from '../core/calls/refusal.ts';
import { CLOSE_CODES } from '../protocol/frames/close-codes.ts';
import { outcomeOf } from '../router/calls/call.ts';
import { settle } from '../router/calls/in-flight.ts';
import { refuseWaitingInDrain } from '../router/calls/serve-waiting.ts';
import type { RouterContext } from '../router/context.ts';
import { withdraw } from '../router/session/withdraw.ts';
import { beginMoves } from './join-cluster.ts';
import type { ModuleSet } from './module-set.ts';

/** For workers and callers to connect to another engine of the cluster, so that no call of theirs is refused. */
const MOVE_MS_MIN = 500;
const MOVE_MS_MAX = 2_000;
const DRAIN_CHECK_INTERVAL_MS = 20;
/** Time for clients to read answers that are already written; with the drain itself below the 5 s of G1. */
const UNREAD_ANSWERS_MS_MAX = 2_000;

/** The other routers of the process, in the drain of one of them. */
export interface DrainOfOthers {
  /** Resolves when all of them have come as far. */
  meet(): Promise<void>;
}

/** Frames of a channel go from the router of its writer to the one that has it, and from there to the reader's. */
const HOPS_OF_CHANNEL = 3;

export async function drainRouter(
  context: RouterContext,
  modules: Pick<ModuleSet, 'drain' | 'stop'>,
  drainTimeoutMs: number,
  cluster: Cluster | undefined,
  others?: DrainOfOthers,
): Promise<void> {
  const endMs = context.clock.monotonicMs() + drainTimeoutMs;
  context.isDraining = true;
  // Other engines know it before the workers come to them.
  const haveMoved = beginMoves(cluster, context);
  context.isMoving = haveMoved !== undefined;
  context.logger.info('Draining', { calls_in_flight: context.calls.openCount, drain_timeout_ms: drainTimeoutMs });
  modules.drain();
  for (const session of context.sessions.values()) session.send({ type: 'draining' });
  await letMove(context, drainTimeoutMs, haveMoved);
  refuseWaitingInDrain(context);
  await waitUntil(context, endMs - context.clock.monotonicMs(), () => context.calls.openCount === 0);
  // Until here the others may need its workers.
  await others?.meet();
  context.isStopped = true;
  refuseWaitingInDrain(context);
  for (const call of context.calls.allOpen()) {
    // Closing an earlier connection may have closed this one, too.
    if (call.isOpen) settle(context, call, outcomeOf(refusals.shuttingDown()));
  }
  await endOfTurn(context);
  await sendWhatIsHeld(context, others);
  const goodbye = { code: CLOSE_CODES.goingAway, reason: 'the engine is shutting down' };
  for (const session of [...context.sessions.values()]) withdraw(context, session, goodbye, refusals.shuttingDown());
  context.channels.stop();
  context.outgoing.close();
  await endOfTurn(context);
  modules.stop();
}

async function sendWhatIsHeld(context: RouterContext, others: DrainOfOthers | undefined): Promise<void> {
  const { clock, afterTurnOfOthers } = context;
  const endMs = clock.monotonicMs() + UNREAD_ANSWERS_MS_MAX;
  for (let hop = 0; hop < (others === undefined ? 1 : HOPS_OF_CHANNEL); hop++) {
    // What is on the way to another router has arrived there then.
    await new Promise<void>((resolve) => (afterTurnOfOthers === undefined ? resolve() : afterTurnOfOthers(resolve)));
    await waitUntil(context, endMs - clock.monotonicMs(), () => !hasUnsentFrames(context));
    await others?.meet();
  }
}

/** `undefined`: there is no engine to move to. */
async function letMove(
  context: RouterContext,
  drainTimeoutMs: number,
  haveMoved: (() => boolean) | undefined,
): Promise<void> {
  if (haveMoved === undefined) return;
  const startMs = context.clock.monotonicMs();
  await waitUntil(
    context,
    Math.min(drainTimeoutMs, MOVE_MS_MAX),
    () => context.clock.monotonicMs() - startMs >= MOVE_MS_MIN && haveMoved(),
  );
  context.isMoving = false;
}

/** Waits until the condition is true or the time is over. */
function waitUntil(context: RouterContext, timeoutMs: number, isSo: () => boolean): Promise<void> {
  const endMs = context.clock.monotonicMs() + timeoutMs;
  return new Promise((resolve) => {
    const isDone = (): boolean => isSo() || context.clock.monotonicMs() >= endMs;
    if (isDone()) return resolve();
    const check = (): void => {
      if (!isDone()) return;
      cancel();
      resolve();
    };
    // All connections may be closed by now, and a process without pending events would end before its work has.
    const cancel = context.clock.every(DRAIN_CHECK_INTERVAL_MS, check, { keepsProcessAlive: true });
  });
}

/** Frames written during a turn of the event loop are sent at its end. */
function endOfTurn(context: RouterContext): Promise<void> {
  return new Promise((resolve) => context.clock.afterTurn(resolve));
}

/** Closing a connection would drop data that its peer has not read: reading a large answer takes time. */
function hasUnsentFrames({ sessions, channels }: RouterContext): boolean {
  return channels.isDelivering || [...sessions.values()].some(({ sendQueue }) => sendQueue.bytes > 0);
}
