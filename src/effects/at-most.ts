// Work that may take no longer than that: whoever ends cannot wait for what never answers (G1).

import type { Clock } from './clock.ts';

/** Resolves when the work has ended, or when its time is over; then the work is left alone. */
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
