// Looks at something in intervals for one watcher, whose filter is its own.

import type { Desk } from '../desk.ts';
import type { Opening } from './topics.ts';

/** The first look comes at once. A look that fails ends the subscription. */
export function poll(
  { context: { clock } }: Desk,
  { subscription, failed }: Opening,
  intervalMs: number,
  look: () => Promise<void>,
): void {
  let isLooking = false;
  const run = (): void => {
    // A slow answer must not have looks pile up.
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
