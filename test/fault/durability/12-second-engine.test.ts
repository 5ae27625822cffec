// Fault 12: a second engine on the directory.

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { stateYaml } from '../../support/load/fault-tools.ts';

test('[R4] [fault 12] A second engine on one directory, however it is spelled, exits with 7, and the first is undisturbed', async () => {
  const line = faultLine('12', 'second engine', 'exit code=7');
  using folder = new TemporaryFolder();
  const data = join(folder.path, 'data');
  mkdirSync(data);
  symlinkSync(data, join(folder.path, 'other-name'));
  await using first = await EngineProcess.start(stateYaml(data));
  await using worker = await RawWorker.connect(first.url);
  await worker.call('state::set', { scope: 's', key: 'k', value: 1 });
  await using second = await EngineProcess.spawn(stateYaml(join(folder.path, 'other-name')));
  const ended = await second.end(10_000);
  line.figure = `exit code=${ended.code}`;
  expect(ended).toEqual({ code: 7, signal: null });
  expect(second.stderr).toMatch(/in use/);
  expect((await worker.call('state::set', { scope: 's', key: 'k', value: 2 })).result).toEqual({
    old_value: 1,
    new_value: 2,
  });
});
