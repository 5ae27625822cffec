// The task file of the store's thread, run in this thread.

import { afterAll, expect, test } from 'vitest';
import { commandNumber } from '../../../../src/store/thread/commands.ts';
import { STORE_LIMITS } from '../../../../src/store/thread/contract.ts';
import { BatchWriter } from '../../../../src/store/thread/messages.ts';
import runStoreTask from '../../../../workers/store.ts';

const BATCHES = 2_000;

/** The parent port belongs to every thread: this one is not the store's. */
const OWN_POOL_BYTES = 8 * 1024;
afterAll(() => {
  Buffer.poolSize = OWN_POOL_BYTES;
});

test('[R3] the event loop of the thread runs regularly, so that the library frees memory', async () => {
  const location = { kind: 'memory' } as const;
  await runStoreTask({ kind: 'open', opening: { location, isDropIn: false, limits: STORE_LIMITS, newEpoch: 'e' } });
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
  // Its tasks are promises that never wait, so the event loop would not run otherwise.
  expect(turns).toBeGreaterThan(4);
  expect(mostInTurn).toBeLessThan(500);
  await runStoreTask({ kind: 'close' });
});

function oneGet(): ArrayBuffer {
  const writer = new BatchWriter();
  writer.add(commandNumber('state::get'), false, Buffer.from('{"scope":"s","key":"k"}'));
  return writer.take({ nowMs: 0, monotonicMs: 0 });
}
