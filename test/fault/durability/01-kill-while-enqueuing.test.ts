// Fault 1, the part of queues: kill -9 under 64 producers, at any moment; every receipt names a job that still runs.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds } from '../../support/load/fault-tools.ts';
import { JobLedger } from '../../support/stores/job-ledger.ts';
import { queueYaml } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(3);
/** They run for up to two seconds, as fast as they can. */
const JOBS_MAX = 3_000;

test('[Q1] [R2] A receipt that was given before kill -9 names a job that runs afterwards', {
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
