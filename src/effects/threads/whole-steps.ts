// Steps that are never cut short by the end of the process: transactions of lmdb. The library locks a mutex for each.
// A thread that is ended in the middle of one waits for that mutex for ever, and the process waits for its threads.
//
// What always holds: one counter of all threads of the process has the number of steps that run. The end of the process
// sets a bit in it, and then waits until that number is 0. A step that finds the bit set does not begin.

import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

const KEY = 'svc:whole-steps';
const ENDING = 1 << 30;
/** A step takes milliseconds, a large one a second. */
const STEP_MS_MAX = 5_000;

let shared: Int32Array<SharedArrayBuffer> | undefined;

/** Called before a thread starts, which inherits the memory. */
export function shareSteps(): Int32Array<SharedArrayBuffer> {
  shared ??= new Int32Array(inheritedCount() ?? ownCount());
  return shared;
}

/** Runs a step of this thread. */
export function wholeStep<T>(step: () => T): T {
  const steps = shareSteps();
  const before = Atomics.add(steps, 0, 1);
  if ((before & ENDING) !== 0) waitForEnd(steps);
  try {
    return step();
  } finally {
    if (Atomics.sub(steps, 0, 1) === ENDING + 1) Atomics.notify(steps, 0);
  }
}

function inheritedCount(): SharedArrayBuffer | undefined {
  const inherited = getEnvironmentData(KEY);
  return inherited instanceof SharedArrayBuffer ? inherited : undefined;
}

function ownCount(): SharedArrayBuffer {
  const own = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  setEnvironmentData(KEY, own);
  // Also after an error that no code caught.
  process.once('exit', endSteps);
  return own;
}

function endSteps(): void {
  const steps = shareSteps();
  const endMs = performance.now() + STEP_MS_MAX;
  let now = Atomics.or(steps, 0, ENDING) | ENDING;
  while (now !== ENDING) {
    const leftMs = endMs - performance.now();
    // Otherwise the process would never end.
    if (leftMs <= 0) process.kill(process.pid, 'SIGKILL');
    Atomics.wait(steps, 0, now, leftMs);
    now = Atomics.load(steps, 0);
  }
}

/** Ends with the thread. */
function waitForEnd(steps: Int32Array): void {
  if (Atomics.sub(steps, 0, 1) === ENDING + 1) Atomics.notify(steps, 0);
  const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  Atomics.wait(never, 0, 0);
}
