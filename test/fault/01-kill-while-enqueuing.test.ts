// Fault 1, the part of queues: kill -9 under 64 producers, at any moment; every receipt names a job that is still run.

import { expect, test } from 'vitest';
import { EngineProcess } from '../support/engine-process.ts';
import { faultLine } from '../support/fault-line.ts';
import { faultRandom, rounds } from '../support/fault-tools.ts';
import { JobLedger } from '../support/job-ledger.ts';
import { queueYaml } from '../support/queue-engine.ts';
import { RawWorker } from '../support/raw-worker.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';

const ROUNDS = rounds(3);
/** They go on for two seconds at most, as fast as they can. */
const JOBS_MAX = 3_000;

test('[Q1] [R2] A receipt that was given before kill -9 names a job that is run afterwards', {
  timeout: 40_000 + ROUNDS * 20_000,
}, async () => {
  const line = faultLine('1', 'kill while enqueuing', 'lost=0');
  using folder = new TemporaryFolder();
  const random = faultRandom('1');
  const yaml = queueYaml({ folder: folder.path });
  for (let round = 0; round < ROUNDS; round++) {
    const ledger = new JobLedger();
    {
      await using engine = await EngineProcess.start(yaml);
      await using producer = await RawWorker.connect(engine.url);
      ledger.produce(producer, 'job', 64);
      const goal = random.between(1, JOBS_MAX);
      await waitFor('the producers are at work', () => ledger.receipts.size >= goal, 15_000);
      engine.kill('SIGKILL');
      await engine.end(5_000);
    }
    await using engine = await EngineProcess.start(yaml);
    await using worker = await RawWorker.connect(engine.url);
    await ledger.serve(worker, 'job');
    const lost = await ledger.lost(worker);
    line.figure = `lost=${lost.length}`;
    expect(lost).toEqual([]);
    expect(ledger.retried.size).toBe(0);
  }
});
