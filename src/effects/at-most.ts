// Work with a time limit: an engine that stops cannot wait for work that never ends (G1).

import type { Clock } from './clock.ts';

/** Resolves when the work has ended, or when its time is over; the work is then abandoned. */
export async function atMost(clock: Pick<Clock, 'after'>, ms: number, work: Promise<unknown>): Promise<void> {
  let cancel = (): void => {};
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
