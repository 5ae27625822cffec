// Waits until a worker has registered its functions, has failed, or the time is up.

import type { Clock } from '../../effects/clock.ts';
import type { SupervisedWorker } from './supervised-worker.ts';
import type { Supervisor } from './supervisor.ts';

const LOOK_INTERVAL_MS = 50;

export type Readiness = 'registered' | 'failed' | 'late';

export function untilRegistered(
  { clock, supervisor }: { clock: Clock; supervisor: Supervisor },
  worker: SupervisedWorker,
  waitMs: number,
): Promise<Readiness> {
  const endMs = clock.monotonicMs() + waitMs;
  const judge = (): Readiness | undefined => {
    if (supervisor.functionsOf(worker.entry.name).length > 0) return 'registered';
    if (FAILED.includes(worker.state)) return 'failed';
    return clock.monotonicMs() >= endMs ? 'late' : undefined;
  };
  return new Promise((resolve) => {
    const look = (): void => {
      const readiness = judge();
      if (readiness === undefined) return;
      cancel();
      resolve(readiness);
    };
    const cancel = clock.every(LOOK_INTERVAL_MS, look);
    clock.afterTurn(look);
  });
}

/** A worker that ended once is retried, but its author wants to see the cause of the first end. */
const FAILED: readonly string[] = ['stopped', 'waiting_to_restart', 'crash_loop'];
