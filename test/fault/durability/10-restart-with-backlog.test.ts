// Fault 10, the part of state: a start with a full store. Data stays in the store, not in a copy in memory (R3).

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entryKey } from '../../../src/store/commands/state/commands.ts';
import { openStore } from '../../../src/store/kv/open-store.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { directory } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { stateYaml } from '../../support/load/fault-tools.ts';

const ENTRIES = process.env.SVC_FAULT_ROUNDS === undefined ? 200_000 : 1_000_000;
const MIB = 1024 * 1024;

test(`[R3] [fault 10] An engine with ${ENTRIES} entries takes no more memory than an empty one`, {
  timeout: 120_000,
}, async () => {
  const line = faultLine('10', 'restart with backlog', 'MiB over empty<64');
  using folder = new TemporaryFolder();
  const full = join(folder.path, 'full');
  fill(full);
  const empty = await memoryAfterStart(join(folder.path, 'empty'));
  const over = (await memoryAfterStart(full)) - empty;
  line.figure = `MiB over empty=${Math.round(over / MIB)}`;
  expect(over).toBeLessThan(64 * MIB);
});

async function memoryAfterStart(folder: string): Promise<number> {
  await using engine = await EngineProcess.start(stateYaml(folder));
  await using worker = await RawWorker.connect(engine.url);
  await worker.call('state::get', { scope: 'scope', key: 'key-77' });
  return engine.rssBytes;
}

function fill(folder: string): void {
  const opened = openStore({ location: directory(folder, 0), newEpoch: 'e' });
  if (!opened.ok) throw new Error(opened.message);
  const value = Buffer.from(JSON.stringify('x'.repeat(200)));
  const scope = Buffer.from('scope');
  for (let start = 0; start < ENTRIES; start += 10_000) {
    opened.store.write((kv) => {
      for (let index = start; index < start + 10_000; index++)
        kv.put(entryKey(scope, Buffer.from(`key-${index}`)), value);
    });
  }
  opened.close();
}
