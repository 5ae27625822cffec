// The thread of one store: it owns the writer and runs as long as the engine (PD-19). A hop costs about 0.1 ms and is
// shared by a whole batch: native-bench/store-hop.ts has the figures.

import type { MessagePort } from 'node:worker_threads';
import { systemClock } from '../src/effects/clock.ts';
import { handOver } from '../src/effects/threads/hand-over.ts';
import { BatchQueue } from '../src/store/thread/batch-queue.ts';
import { StoreHost } from '../src/store/thread/host.ts';
import type { BatchAnswer, StoreAnswer, StoreTask } from '../src/store/thread/messages.ts';

/** Size of the blocks for small buffers: Node's default of 8 KiB is full after nine writes. */
Buffer.poolSize = 64 * 1024;

const host = new StoreHost();
let lastBatch: Promise<unknown> = Promise.resolve();
let batches = 0;
/** Absent: the process has one router. */
let ofRouters: BatchQueue | undefined;

/**
 * lmdb frees the memory of a cursor when the event loop turns. The loop of a thread that blocks between tasks never
 * turns, so each range read would leak about 300 bytes. The thread therefore lets the loop turn once per this many
 * batches.
 */
const BATCHES_A_TURN = 256;

/** Only batches run one after the other: a copy takes long, and batches must not wait for it. */
export default function runStoreTask(task: StoreTask): Promise<unknown> {
  switch (task.kind) {
    case 'batch':
      return runOfFirst(task.batch);
    case 'attach':
      return allAnswered().then(() => attach(task.port));
    default:
      return host.run(task);
  }
}

/** Another router of the process sends its batches there. The thread must turn its event loop between tasks. */
function attach(port: MessagePort): StoreAnswer {
  ofRouters ??= new BatchQueue({ run: (blocks) => host.runBatches(blocks), afterTurn: systemClock.afterTurn });
  const queue = ofRouters;
  port.on('message', (batch: ArrayBuffer) => {
    queue.run(port, batch, (answer) => port.postMessage(answer, answer instanceof ArrayBuffer ? [answer] : []));
  });
  return { done: true };
}

/** Of the first router. */
function runOfFirst(batch: ArrayBuffer): Promise<unknown> {
  const queue = ofRouters;
  if (queue === undefined) return runAfterLast(batch);
  return new Promise((done) => queue.run(host, batch, (answer) => done(handedOver(answer))));
}

/**
 * The pool receives all queued tasks before it runs any, and would send the first answer after the last batch. Because
 * each batch starts only after the answer of the previous one, each is answered as soon as it is done. One more `await`
 * on the way of the answer, and the next batch would run first.
 */
function runAfterLast(batch: ArrayBuffer): Promise<unknown> {
  const answered = lastBatch.then(() => handedOver(runOne(batch)));
  const settled = answered.catch(() => undefined);
  lastBatch = ++batches % BATCHES_A_TURN === 0 ? settled.then(turnOfLoop) : settled;
  return answered;
}

function runOne(batch: ArrayBuffer): BatchAnswer {
  return host.runBatches([batch])[0] ?? { failure: 'the store did not answer' };
}

function handedOver(answer: BatchAnswer): unknown {
  return answer instanceof ArrayBuffer ? handOver(answer) : answer;
}

/** Batches may come while it waits. */
async function allAnswered(): Promise<void> {
  const last = lastBatch;
  await last;
  if (last !== lastBatch) await allAnswered();
}

function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => systemClock.afterTurn(resolve));
}
