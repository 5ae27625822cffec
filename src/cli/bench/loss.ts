// The loss of a connection while a benchmark runs. Without this check, calls would fail in a tight loop, and an
// expected tick would never come.

import type { SvcWorker } from '../../sdk/worker/svc-worker.ts';
import { lostEngine } from '../engine/connection.ts';

export interface Loss {
  readonly hasHappened: boolean;
  /** Rejects when it happens. */
  readonly told: Promise<never>;
}

export function watchLoss(connections: readonly SvcWorker[], address: string): Loss {
  let hasHappened = false;
  const told = new Promise<never>((_, reject) => {
    for (const connection of connections) {
      connection.on('disconnected', ({ code, reason }) => {
        hasHappened = true;
        reject(lostEngine(`code ${code}${reason && ` ${reason}`}`, address));
      });
    }
  });
  // Nothing may be waiting for it yet; an unhandled rejection would end the process.
  told.catch(() => {});
  return {
    get hasHappened() {
      return hasHappened;
    },
    told,
  };
}
