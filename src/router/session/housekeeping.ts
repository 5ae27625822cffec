// Periodic work of the router: ends calls at their deadline, pings, closes connections that are silent or that let
// their frames pile up, and measures the pressure on the engine (L2).
//
// The effect of a pressure level is implemented where the work begins: calls in `calls/new-work.ts`, requests in
// `modules/http`, hand-over of jobs in `modules/queue`, spans in `core/telemetry/spans/collector.ts`, new connections
// where they are admitted.

import { DEADLINE_STEP_MS } from '../../core/calls/call-table.ts';
import { PRESSURE } from '../../core/limits/pressure.ts';
import type { LoadGauge } from '../../effects/process-figures.ts';
import { expireCalls } from '../calls/in-flight.ts';
import { serveWaiting } from '../calls/serve-waiting.ts';
import type { RouterContext } from '../context.ts';
import { type Session, unreadBytes } from './session.ts';
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
      if (context.waiting.size > 0) serveWaiting(context);
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

/**
 * At the limit of the whole process the connection with the most unread bytes goes first. Restricted connections have
 * half of it: beyond that they are closed, so that they neither put the engine under pressure nor close a trusted one.
 */
function checkBuffers(context: RouterContext): void {
  const { sessions, settings } = context;
  for (const { sendQueue } of sessions.values()) sendQueue.trim();
  const own = unreadBytes(sessions.values());
  const { trusted, restricted, isMost } = unreadOfAll(context, own);
  const limit = settings.outboundBytesMax;
  const kept = Math.min(restricted, limit / 2);
  // Each router closes its share.
  const excess = (restricted - kept) * (own.restricted / restricted);
  // What is left counts at the next check: callers of those that are closed are sent errors now.
  if (excess > 0) return closeLargest(context, ({ access }) => access !== undefined, excess);
  if (trusted + kept > limit && isMost) closeLargest(context, () => true, 1);
}

type Unread = ReturnType<typeof unreadBytes>;

/** Of the connections of all routers. `isMost`: none of another router has more unread bytes than one of this one. */
function unreadOfAll({ unread }: RouterContext, own: Unread) {
  unread.trusted.note(own.trusted);
  unread.restricted.note(own.restricted);
  return {
    trusted: own.trusted + unread.trusted.elsewhere,
    restricted: own.restricted + unread.restricted.elsewhere,
    isMost: unread.most.isMost(own.most) && own.most > 0,
  };
}

/** Closes those with the most unread bytes, until so many bytes are gone. */
function closeLargest(context: RouterContext, isMeant: (session: Session) => boolean, bytes: number): void {
  const meant = [...context.sessions.values()]
    .filter(isMeant)
    .map((session) => ({ session, bytes: session.sendQueue.bytes }));
  let left = bytes;
  for (const one of meant.sort((a, b) => b.bytes - a.bytes)) {
    if (left <= 0) return;
    left -= one.bytes;
    closeSlow(context, one.session, one.bytes);
  }
}

/**
 * How long this process could receive nothing because it was stopped or busy: that time is its own silence, and must
 * not count as that of its clients (W1).
 */
export class OwnSilence {
  readonly #intervalMs: number;
  #lastCheckMs: number;

  /** Clients are checked every `intervalMs`. */
  constructor(intervalMs: number, nowMs: number) {
    this.#intervalMs = intervalMs;
    this.#lastCheckMs = nowMs;
  }

  /** To be called once at each check; 0 unless the check is late by more than one interval. */
  sinceLastCheck(nowMs: number): number {
    const lateMs = nowMs - this.#lastCheckMs - this.#intervalMs;
    this.#lastCheckMs = nowMs;
    return lateMs > this.#intervalMs ? lateMs : 0;
  }
}

const PRESSURE_READ_INTERVAL_MS = 1_000;

/**
 * Measures the pressure once a second, and logs one line per change. `commitQueue`: how many commands wait for a store.
 * Returns a function that stops it.
 */
export function startPressureWatch(context: RouterContext, gauge: LoadGauge, commitQueue: () => number): () => void {
  const { clock, pressure, counters } = context;
  const cancel = clock.every(PRESSURE_READ_INTERVAL_MS, () => {
    const reading = {
      event_loop_delay_ms: gauge.loopDelayMs(),
      heap_share: gauge.heapShare(),
      outbound_share: unreadShare(context),
      commit_queue: commitQueue(),
    };
    if (!pressure.take(reading, clock.monotonicMs())) return;
    counters.count('pressure.changes', pressure.name);
    logChange(context);
  });
  return () => {
    cancel();
    gauge.stop();
  };
}

function logChange({ pressure, logger }: RouterContext): void {
  const { level, name, cause } = pressure;
  if (cause === undefined) {
    logger.info('The engine is no longer under pressure', { level: name });
    return;
  }
  const { quantity, value, limit } = cause;
  const rounded = value >= 10 ? Math.round(value) : Math.round(value * 1_000) / 1_000;
  const text = `The engine is under pressure: ${MEANING[level]}`;
  logger.warn(text, { level: name, cause: quantity, value: rounded, limit });
}

const MEANING = {
  [PRESSURE.normal]: '',
  [PRESSURE.busy]: 'fewer spans are kept',
  [PRESSURE.shed]: 'some HTTP requests and browser calls are refused, and some fire-and-forget calls',
  [PRESSURE.protect]: 'requests and new connections are refused, and no job is taken',
};

/**
 * Restricted connections have half of the limit: what they exceed it by is closed soon, and is no pressure. Calls that
 * wait for a worker count like bytes that wait for one.
 */
function unreadShare(context: RouterContext): number {
  const { sessions, settings, waiting } = context;
  const { trusted, restricted } = unreadOfAll(context, unreadBytes(sessions.values()));
  return (
    (trusted + waiting.bytes) / settings.outboundBytesMax +
    Math.min(restricted / settings.outboundBytesMax, RESTRICTED_SHARE)
  );
}

const RESTRICTED_SHARE = 0.5;
