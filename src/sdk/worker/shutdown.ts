// The end of a worker (SDK-8): no new work, time for the running work, then the signal, then the connection closes.

import { SvcError } from '../calls/errors.ts';
import type { Link } from '../connection/link.ts';
import { encodeFrame } from '../wire/wire.ts';
import type { PlatformClock, TerminationSignals } from './platform.ts';

/** The handlers that run. */
export interface RunningHandlers {
  readonly runningCount: number;
  /** Resolves when no handler is running. */
  whenIdle(): Promise<void>;
  /** Aborts the signals of all running handlers. */
  abortAll(reason: SvcError): void;
}

export interface Drain {
  readonly clock: PlatformClock;
  /** Undefined if nothing could be called. */
  readonly incoming: RunningHandlers | undefined;
  readonly drainTimeoutMs: number;
  /** Withdraws all functions and triggers at the engine. */
  readonly withdraw: () => void;
  /** The current connection. */
  readonly link: () => Link | undefined;
  /** Resolves when the engine has read everything sent so far; rejects or hangs without a connection. */
  readonly roundTrip: () => Promise<void>;
}

/** Resolves when no handler is running, or when the time is over. */
export async function drain({ clock, incoming, drainTimeoutMs, withdraw, ...way }: Drain): Promise<void> {
  const deadlineMs = clock.monotonicMs() + drainTimeoutMs;
  const link = way.link();
  // With this frame the engine keeps the worker's routes for a while, so that it can ask callers to repeat the request
  // in a moment. An `iii` engine does not know the frame.
  if (link?.form.startsWith(OUR_FORMS) === true) link.sendFrame(encodeFrame({ type: 'draining' }));
  withdraw();
  // Calls that were handed over before the engine read this may still arrive. Without a connection there are none.
  const read = link === undefined ? Promise.resolve() : way.roundTrip().catch(nothing);
  await within(clock, Math.min(LAST_CALLS_MS_MAX, drainTimeoutMs), read);
  if (incoming === undefined) return;
  await within(clock, deadlineMs - clock.monotonicMs(), incoming.whenIdle());
  if (incoming.runningCount === 0) return;
  incoming.abortAll(
    new SvcError('SHUTDOWN', `this worker is shutting down, and drain_timeout_ms (${drainTimeoutMs}) is over`),
  );
  await within(clock, ABORTED_MS_MAX, incoming.whenIdle());
}

/** Ends the worker on the first signal; the second signal takes effect at once. */
export function shutDownOnSignals(signals: TerminationSignals, shutDown: () => Promise<void>): () => void {
  let isEnding = false;
  const stop = signals.listen((signal) => {
    const end = (): void => {
      stop();
      signals.raise(signal);
    };
    if (isEnding) {
      end();
      return;
    }
    isEnding = true;
    void shutDown().then(end, end);
  });
  return stop;
}

/** The prefix of our forms of the wire. */
const OUR_FORMS = 'svc.';
/** How long the engine may take to confirm that it starts nothing more here. */
const LAST_CALLS_MS_MAX = 1_000;
/** Time for a handler to react to its signal and still answer. */
const ABORTED_MS_MAX = 500;

function within(clock: PlatformClock, timeoutMs: number, done: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(Math.max(0, timeoutMs), resolve);
    void done.then(() => {
      cancel();
      resolve();
    });
  });
}

const nothing = (): void => {};
