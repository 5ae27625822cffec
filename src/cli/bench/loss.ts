// The end of a connection while a benchmark runs. Calls would fail at once then, as fast as a loop turns, and a tick
// that is waited for would never come.

import type { SvcWorker } from '../../sdk/svc-worker.ts';
import { lostEngine } from '../connection.ts';

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
  // Nobody may be waiting yet.
  told.catch(() => {});
  return {
    get hasHappened() {
      return hasHappened;
    },
    told,
  };
}
