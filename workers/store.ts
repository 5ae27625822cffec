// The thread of one store: it owns the writer, and is never ended while the engine runs (decisions 19). A hop costs
// about 0.1 ms alone and is shared by a whole batch: native-bench/store-hop.ts has the figures.

import { move } from 'piscina';
import { systemClock } from '../src/effects/clock.ts';
import { StoreHost } from '../src/store/host.ts';
import type { StoreTask } from '../src/store/tasks.ts';

/** Of the blocks that small buffers are cut from: Node's own 8 KiB are full after nine writes. */
Buffer.poolSize = 64 * 1024;

const host = new StoreHost();
let lastBatch: Promise<unknown> = Promise.resolve();
let batches = 0;

/**
 * What lmdb took for a cursor is given back when the event loop turns, which that of a thread that sleeps between tasks
 * never does: each look at a range would cost some 300 bytes for good. So it turns before one batch of so many.
 */
const BATCHES_A_TURN = 256;

/** Anything but a batch goes at once: a copy takes its time, and batches must not wait for it. */
export default function runStoreTask(task: StoreTask): Promise<unknown> {
  return task.kind === 'batch' ? runAfterLast(task.batch) : host.run(task);
}

/**
 * The pool takes all that lies at the door before it looks at any of it, and would send the first answer when the last
 * batch has run. Begun only behind the answer of the one before, each is answered as soon as it is done.
 */
function runAfterLast(batch: ArrayBuffer): Promise<unknown> {
  const answered = lastBatch.then(() => runBatch(batch));
  const settled = answered.catch(() => undefined);
  lastBatch = ++batches % BATCHES_A_TURN === 0 ? settled.then(turnOfLoop) : settled;
  return answered;
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => systemClock.afterTurn(resolve));
}

function runBatch(batch: ArrayBuffer): unknown {
  const answer = host.runBatch(batch);
  return answer instanceof ArrayBuffer ? move(answer) : answer;
}
