// The end of a worker (SDK-8): no new work, time for the work that runs, then the signal, then the connection.

import { SvcError } from './errors.ts';
import type { IncomingCalls } from './incoming-calls.ts';
import type { PlatformClock, TerminationSignals } from './platform.ts';

export interface Drain {
  readonly clock: PlatformClock;
  /** Undefined where nothing could be called. */
  readonly incoming: IncomingCalls | undefined;
  readonly drainTimeoutMs: number;
  /** Tells the engine that nothing more is offered. */
  readonly withdraw: () => void;
  /** Resolves when the engine has read everything sent so far; rejects or hangs without a connection. */
  readonly roundTrip: () => Promise<void>;
}

/** Resolves when nothing is running any more, or when it has been given all the time it gets. */
export async function drain({ clock, incoming, drainTimeoutMs, withdraw, roundTrip }: Drain): Promise<void> {
  const deadlineMs = clock.monotonicMs() + drainTimeoutMs;
  withdraw();
  // Calls handed over before the engine read that are still on their way; without a connection there are none.
  await within(clock, Math.min(LAST_CALLS_MS_MAX, drainTimeoutMs), roundTrip().catch(nothing));
  if (incoming === undefined) return;
  await within(clock, deadlineMs - clock.monotonicMs(), incoming.whenIdle());
  if (incoming.runningCount === 0) return;
  incoming.abortAll(new SvcError('SHUTDOWN', `this worker is shutting down; ${drainTimeoutMs} ms to finish are over`));
  await within(clock, ABORTED_MS_MAX, incoming.whenIdle());
}

/** Ends the worker on the first signal and lets the second one have its way at once. */
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

/** How long the engine may take to confirm that it hands over nothing more. */
const LAST_CALLS_MS_MAX = 1_000;
/** Time for a handler to react to its signal and still be heard. */
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
