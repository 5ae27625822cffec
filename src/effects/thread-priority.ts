// Which threads wait when there is more to do than processors.

import { getPriority, setPriority } from 'node:os';

/** Steps of `nice`: beside a thread of calls that never rests, one this far behind gets about a tenth. */
const STEPS_BEHIND = 10;
const LAST = 19;

/**
 * Puts the thread that asks behind all others of the process: what only looks on must not make calls wait. Elsewhere
 * than on Linux a priority is that of the whole process, so nothing is done there.
 */
export function yieldToCalls(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(LAST, getPriority() + STEPS_BEHIND));
  } catch {
    // Where the system forbids it, the thread competes like any other.
  }
}
