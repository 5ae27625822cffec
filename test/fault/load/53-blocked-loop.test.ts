// Fault 53: the engine's own thread is blocked. The silence counts as its own and not as that of its workers.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { WorkerProcess } from '../../support/engine/worker-process.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { FAULT_ROUNDS } from '../../support/load/fault-tools.ts';
import { enqueue, receiptOf, startQueueEngine, statsOf } from '../../support/stores/queue-engine.ts';

const IS_LONG = process.env.SVC_FAULT_ROUNDS !== undefined;
/** In the long form longer than the silence after which a worker counts as dead. */
const PAUSE_MS = IS_LONG ? 30_000 : 2_000;
const PAUSES = IS_LONG ? Math.ceil(FAULT_ROUNDS / 10) : 2;

test('[fault 53] [W1] [Q5] While the engine was blocked no worker was dropped and no job was given away', {
  timeout: 60_000 + PAUSES * PAUSE_MS * 2,
}, async () => {
  const line = faultLine('53', 'event-loop blocker', 'dead=0,given away=0');
  await using engine = await startQueueEngine({ queues: '{default: {backoff_ms: 1}}' });
  await using caller = await RawWorker.connect(engine.url);
  await using worker = await WorkerProcess.start(engine.url, 'job', 'hangs');
  const receipt = await receiptOf(enqueue(caller, 'job', {}));
  await worker.says('called');
  for (let pause = 0; pause < PAUSES; pause++) {
    // The engine runs on this very thread.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    await caller.settled();
  }
  const { result } = await caller.call('engine::queue::job', { messageReceiptId: receipt });
  const { state, attempt } = result as { state: string; attempt: number };
  const dead = engine.counters.get('connections.closed', 'silent');
  line.figure = `dead=${dead},given away=${attempt - 1}`;
  expect({ state, attempt, dead }).toEqual({ state: 'running', attempt: 1, dead: 0 });
  expect((await statsOf(caller)).states.running).toBe(1);
});
