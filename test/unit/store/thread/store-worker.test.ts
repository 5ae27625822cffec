// The task file of the store's thread, run in this thread.

import { afterAll, expect, test } from 'vitest';
import { BatchWriter } from '../../../../src/store/thread/batch-writer.ts';
import { commandNumber } from '../../../../src/store/thread/commands.ts';
import { STORE_LIMITS } from '../../../../src/store/thread/contract.ts';
import runStoreTask from '../../../../workers/store.ts';

const BATCHES = 2_000;

/** The parent port belongs to every thread: this one is not the store's. */
const OWN_POOL_BYTES = 8 * 1024;
afterAll(() => {
  Buffer.poolSize = OWN_POOL_BYTES;
});

test('[R3] the event loop of the thread turns now and then, so that memory of the library is freed', async () => {
  const place = { kind: 'memory' } as const;
  await runStoreTask({ kind: 'open', opening: { place, isDropIn: false, limits: STORE_LIMITS, newEpoch: 'e' } });
  let turns = 0;
  let batchesInTurn = 0;
  let mostInTurn = 0;
  const countTurn = (): void => {
    turns++;
    batchesInTurn = 0;
    immediate = setImmediate(countTurn);
  };
  let immediate = setImmediate(countTurn);
  for (let batch = 0; batch < BATCHES; batch++) {
    await runStoreTask({ kind: 'batch', batch: oneGet() });
    mostInTurn = Math.max(mostInTurn, ++batchesInTurn);
  }
  clearImmediate(immediate);
  // Its tasks are promises that wait for nothing else: without that the loop would not turn once.
  expect(turns).toBeGreaterThan(4);
  expect(mostInTurn).toBeLessThan(500);
  await runStoreTask({ kind: 'close' });
});

function oneGet(): ArrayBuffer {
  const writer = new BatchWriter();
  writer.add(commandNumber('state::get'), false, Buffer.from('{"scope":"s","key":"k"}'));
  return writer.take({ nowMs: 0, monotonicMs: 0 });
}
