// A process that ends while a thread of it is in the middle of a transaction: `node end-in-transaction.ts <folder>`.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { shareSteps } from '../../../src/effects/threads/whole-steps.ts';
import { LmdbStore } from '../../../src/store/kv/kv-lmdb.ts';

const KEY = Buffer.from('key');

if (isMainThread) {
  shareSteps();
  const thread = new Worker(new URL(import.meta.url), { workerData: process.argv[2] });
  thread.once('message', () => process.exit(3));
} else {
  const store = new LmdbStore({ folder: String(workerData) });
  store.write((kv) => {
    parentPort?.postMessage('in a transaction');
    const endMs = performance.now() + 500;
    while (performance.now() < endMs) kv.put(KEY, Buffer.from('first'));
  });
  store.write((kv) => kv.put(KEY, Buffer.from('second')));
}
