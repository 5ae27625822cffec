// Periodic work of the router: ends calls at their deadline, pings, and closes connections that are silent or that let
// their frames pile up.

import { DEADLINE_STEP_MS } from '../../core/calls/call-table.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import { OwnSilence } from '../../core/registry/own-silence.ts';
import { expireCalls } from '../calls/in-flight.ts';
import type { RouterContext } from '../context.ts';
import type { Session } from './session.ts';
import { closeExpired, closeIdle, closeSilent, closeSlow } from './withdraw.ts';

export const PING_INTERVAL_MS = 10_000;
const SILENCE_MS_MAX = 25_000;
const BUFFER_CHECK_INTERVAL_MS = 250;
export const LIVENESS_CHECK_INTERVAL_MS = 1_000;
const TIMER_LATE_MS = 100;
/** A connection that has been silent for this long would be overdue by the next check, which may come a little late. */
export const SILENT_MS = SILENCE_MS_MAX - LIVENESS_CHECK_INTERVAL_MS - TIMER_LATE_MS;

/** Starts the timers. Returns a function that stops them. */
export function startHousekeeping(context: RouterContext): () => void {
  const { clock } = context;
  const liveness: Liveness = {
    round: 0,
    ownSilence: new OwnSilence(LIVENESS_CHECK_INTERVAL_MS, clock.monotonicMs()),
  };
  const stops = [
    clock.every(DEADLINE_STEP_MS, () => {
      if (context.calls.openCount > 0) expireCalls(context);
    }),
    clock.every(BUFFER_CHECK_INTERVAL_MS, () => checkBuffers(context)),
    clock.every(LIVENESS_CHECK_INTERVAL_MS, () => checkLiveness(context, liveness)),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

interface Liveness {
  round: number;
  readonly ownSilence: OwnSilence;
}

/**
 * Pings a tenth of the connections each second, and ends those that were silent too long (W1). Rounds are counted, not
 * computed from the clock: a timer that is a little late each time would skip a tenth now and then.
 */
function checkLiveness(context: RouterContext, liveness: Liveness): void {
  const nowMs = context.clock.monotonicMs();
  const ownSilenceMs = liveness.ownSilence.sinceLastCheck(nowMs);
  const slices = PING_INTERVAL_MS / LIVENESS_CHECK_INTERVAL_MS;
  const slice = liveness.round++ % slices;
  // A connection that does nothing gives up its place when there are none left (L1).
  const isPressed = context.pressure.level >= PRESSURE.protect;
  for (const session of context.sessions.values()) {
    session.lastHeardMs += ownSilenceMs;
    const silentMs = nowMs - session.lastHeardMs;
    if (silentMs >= SILENT_MS) closeSilent(context, session, silentMs);
    else if (nowMs >= (session.guard?.rules.expiresAtMs ?? Number.POSITIVE_INFINITY)) {
      closeExpired(context, session, 'the connection is as old as it may be; connect again');
    } else if (session.guard?.isIdleTooLong(isPressed ? Number.POSITIVE_INFINITY : nowMs)) closeIdle(context, session);
    else if (session.generation % slices === slice) session.link.ping();
  }
  // After the connections that were silent too long are gone.
  context.triggerClaims.expire(nowMs, ownSilenceMs);
  context.typeClaims.expire(nowMs, ownSilenceMs);
}

/** At the limit of the whole process the connection with the most unread bytes goes first. */
function checkBuffers(context: RouterContext): void {
  let total = 0;
  let largest: Session | undefined;
  for (const session of context.sessions.values()) {
    const { bytes } = session.sendQueue;
    session.sendQueue.trim();
    total += bytes;
    if (bytes > (largest?.sendQueue.bytes ?? 0)) largest = session;
  }
  if (largest !== undefined && total > context.settings.outboundBytesMax) {
    closeSlow(context, largest, largest.sendQueue.bytes);
  }
}
