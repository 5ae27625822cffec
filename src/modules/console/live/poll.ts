// Polls something at intervals for one watcher, which has its own filter.

import type { Desk } from '../desk.ts';
import type { Opening } from './topics.ts';

/** Polls immediately for the first time. A poll that fails ends the subscription. */
export function poll(
  { context: { clock } }: Desk,
  { subscription, failed }: Opening,
  intervalMs: number,
  look: () => Promise<void>,
): void {
  let isLooking = false;
  const run = (): void => {
    // With slow answers, polls must not pile up.
    if (isLooking || subscription.isOver) return;
    isLooking = true;
    look()
      .catch(failed)
      .finally(() => {
        isLooking = false;
      });
  };
  subscription.close = clock.every(intervalMs, run);
  clock.afterTurn(run);
}
