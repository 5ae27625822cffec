// What the threads that observe need of the process, so that they delay no call: a lower priority, and a pipe for log
// lines that never blocks.

import { getPriority, setPriority } from 'node:os';

/** Steps of `nice`: next to a busy thread of calls, a thread this far below gets about a tenth. */
const NICE_STEPS = 10;
const NICE_MAX = 19;

/**
 * Lowers the priority of the current thread below all others of the process: observation must not delay calls. Only on
 * Linux does a thread have a priority of its own; elsewhere nothing is done.
 */
export function yieldToCalls(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(NICE_MAX, getPriority() + NICE_STEPS));
  } catch {
    // Where the system forbids it, the thread competes like any other.
  }
}

/**
 * `write` takes bytes and returns how many of them it wrote; it throws where it takes none. The result is whether the
 * line was taken. If the pipe took part of a line, the rest goes before the next line.
 */
export function wholeLines(write: (bytes: Uint8Array) => number): (line: string) => boolean {
  let rest: Uint8Array = new Uint8Array(0);
  const push = (): boolean => {
    try {
      while (rest.length > 0) rest = rest.subarray(write(rest));
    } catch {
      // The pipe is full, or its reader is gone.
    }
    return rest.length === 0;
  };
  return (line) => {
    if (!push()) return false;
    const bytes = Buffer.from(`${line}\n`);
    rest = bytes;
    push();
    if (rest.length < bytes.length) return true;
    rest = rest.subarray(rest.length);
    return false;
  };
}
