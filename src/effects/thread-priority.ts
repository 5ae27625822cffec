// Which threads wait when there is more work than processors.

import { getPriority, setPriority } from 'node:os';

/** Steps of `nice`: next to a busy thread of calls, a thread this far below gets about a tenth. */
const STEPS_BEHIND = 10;
const LAST = 19;

/**
 * Lowers the priority of the current thread below all others of the process: observation must not delay calls. Only on
 * Linux does a thread have a priority of its own; elsewhere nothing is done.
 */
export function yieldToCalls(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(LAST, getPriority() + STEPS_BEHIND));
  } catch {
    // Where the system forbids it, the thread competes like any other.
  }
}
