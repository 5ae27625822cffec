// Fault 1, the part of state: kill -9 under 64 writers, at any moment; nothing acknowledged is lost.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { faultRandom, rounds, stateYaml } from '../../support/load/fault-tools.ts';
import { readBack, StateWriters } from '../../support/stores/state-writers.ts';
import { waitFor } from '../../support/wait-for.ts';

const ROUNDS = rounds(3);

test('[D1] [R1] [R6] [fault 1] A write that was acknowledged survives kill -9 at any moment, and the next engine starts at once', {
  timeout: 20_000 + ROUNDS * 15_000,
}, async () => {
  const line = faultLine('1', 'kill while writing', 'lost=0');
  using folder = new TemporaryFolder();
  const random = faultRandom('1');
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = await writeAndKill(folder.path, random.between(1, 3_000));
    await using engine = await EngineProcess.start(stateYaml(folder.path));
    await using reader = await RawWorker.connect(engine.url);
    const stored = await readBack(reader);
    const lost = [...acknowledged].filter(([key, value]) => (stored.get(key) ?? 0) < value);
    line.figure = `lost=${lost.length}`;
    expect(lost).toEqual([]);
    await reader.call('state::set', { scope: 'other', key: 'round', value: round });
  }
});

/** Kills it when that many writes were acknowledged, with more of them in progress. */
async function writeAndKill(folder: string, writes: number): Promise<ReadonlyMap<string, number>> {
  await using engine = await EngineProcess.start(stateYaml(folder));
  await using worker = await RawWorker.connect(engine.url);
  const writers = new StateWriters(worker).start(64);
  await waitFor('the writers are at work', () => writers.acknowledgedCount >= writes, 15_000);
  engine.kill('SIGKILL');
  await engine.end(5_000);
  return writers.acknowledged.values;
}
