// Fault 4: a sync fails. That is final (D3): the kernel may have dropped what it could not write.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, isSkipped, rounds, stateYaml, Tracer, tracingRefusal } from '../../support/load/fault-tools.ts';
import { readBack, StateWriters } from '../../support/stores/state-writers.ts';

const ROUNDS = rounds(2);

test.skipIf(isSkipped('fault 4', tracingRefusal()))(
  '[D3] [fault 4] After the first failed sync nothing is acknowledged, the engine exits with 74, and no refused write is there',
  { timeout: 20_000 + ROUNDS * 50_000 },
  async () => {
    const line = faultLine('4', 'sync fails', 'wrong=0');
    const random = faultRandom('4');
    for (let round = 0; round < ROUNDS; round++) {
      using folder = new TemporaryFolder();
      const { values, refused } = await writeUntilSyncFails(folder.path, random.between(1, 60));
      expect(refused.size).toBeGreaterThan(0);
      await using engine = await EngineProcess.start(stateYaml(folder.path));
      await using reader = await RawWorker.connect(engine.url);
      const stored = await readBack(reader);
      // Each key: its last acknowledged value exactly, as everything after that was refused.
      const wrong = [...refused].filter(([key]) => stored.get(key) !== values.get(key));
      line.figure = `wrong=${wrong.length}`;
      expect(wrong).toEqual([]);
    }
  },
);

async function writeUntilSyncFails(folder: string, sync: number) {
  await using engine = await EngineProcess.start(stateYaml(folder));
  await using worker = await RawWorker.connect(engine.url);
  await using _tracer = await Tracer.attach(engine.pid, `fdatasync:error=EIO:when=${sync}+`);
  const writers = new StateWriters(worker).start(64);
  const { code } = await engine.end(10_000);
  expect(code).toBe(74);
  expect(engine.stderr).toMatch(/store failed/);
  return await writers.settled();
}
