// Fault 8: backups while many clients write. Each is one committed moment of the store, verified, and can be restored.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runSvc } from '../../e2e/cli/cli-process.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds, stateYaml } from '../../support/load/fault-tools.ts';

const BACKUPS = rounds(2);
const PAIRS = 32;

test('[D8] [fault 8] A backup under load equals one committed moment, and the restored store has a new epoch', {
  timeout: 60_000 + BACKUPS * 20_000,
}, async () => {
  const line = faultLine('8', 'backup under load', `copies=${BACKUPS}`);
  using folder = new TemporaryFolder();
  const data = join(folder.path, 'data');
  await writeFile(join(folder.path, 'svc-config.yaml'), stateYaml(data));
  {
    await using engine = await EngineProcess.start(stateYaml(data));
    await using worker = await RawWorker.connect(engine.url);
    await using load = new PairWriters(worker);
    await load.hasBegun;
    for (let backup = 0; backup < BACKUPS; backup++) {
      const args = ['backup', `copy-${backup}`, '--url', engine.url, '--json'];
      const { code, stdout, stderr } = await runSvc(args, { cwd: folder.path });
      expect(stderr).not.toContain('error');
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ stores: [{ folder: data }] });
    }
  }
  for (let backup = 0; backup < BACKUPS; backup++) {
    const restored = await runSvc(['restore', `copy-${backup}`], { cwd: folder.path });
    expect(restored.code).toBe(0);
    expect(restored.stdout + restored.stderr).toContain('the old store is now');
    expect(statSync(data).mode & 0o777).toBe(0o700);
    await using engine = await EngineProcess.start(stateYaml(data));
    await using worker = await RawWorker.connect(engine.url);
    await expectOneMoment(worker);
  }
  const kept = readdirSync(folder.path).filter((name) => name.startsWith('data.before-restore'));
  line.figure = `copies=${kept.length}`;
  expect(kept).toHaveLength(BACKUPS);
});

test('[D8] [fault 8] A backup is refused where the folder exists, and a restore while an engine runs', {
  timeout: 60_000,
}, async () => {
  const line = faultLine('8', 'backup in the way', 'exit codes=7,7');
  using folder = new TemporaryFolder();
  const data = join(folder.path, 'data');
  await writeFile(join(folder.path, 'svc-config.yaml'), stateYaml(data));
  await using engine = await EngineProcess.start(stateYaml(data));
  const args = ['--url', engine.url];
  expect((await runSvc(['backup', 'copy', ...args], { cwd: folder.path })).code).toBe(0);
  const again = await runSvc(['backup', 'copy', ...args], { cwd: folder.path });
  expect(again).toMatchObject({
    code: 7,
    stderr: expect.stringContaining(`error: ${join(folder.path, 'copy')} exists`),
  });
  line.figure = `exit codes=${again.code},7`;
  expect((await runSvc(['restore', 'copy'], { cwd: folder.path })).code).toBe(7);
  expect(readdirSync(folder.path).filter((name) => name.includes('partial') || name.includes('restoring'))).toEqual([]);
});

test('[D8] [fault 8] Without an engine the command makes the copy itself', { timeout: 60_000 }, async () => {
  const line = faultLine('8', 'backup without an engine', 'exit code=0');
  using folder = new TemporaryFolder();
  const data = join(folder.path, 'data');
  await writeFile(join(folder.path, 'svc-config.yaml'), stateYaml(data));
  {
    await using engine = await EngineProcess.start(stateYaml(data));
    await using worker = await RawWorker.connect(engine.url);
    await worker.call('state::set', { scope: 's', key: 'k', value: 1 });
  }
  const { code, stdout } = await runSvc(['backup', 'copy', '--json'], { cwd: folder.path });
  line.figure = `exit code=${code}`;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ stores: [{ entries: 5 }] });
  expect(existsSync(join(folder.path, 'copy', 'svc-backup.json'))).toBe(true);
});

test('[D8] [fault 8] A copy that is damaged, or not whole, is not restored, and its file is named', {
  timeout: 60_000,
}, async () => {
  const line = faultLine('8', 'damaged backup', 'exit codes=74,74');
  using folder = new TemporaryFolder();
  const data = join(folder.path, 'my data');
  await writeFile(join(folder.path, 'svc-config.yaml'), stateYaml(data));
  {
    await using engine = await EngineProcess.start(stateYaml(data));
    await using worker = await RawWorker.connect(engine.url);
    await worker.call('state::set', { scope: 's', key: 'k', value: 1 });
  }
  const svc = (...args: string[]) => runSvc(args, { cwd: folder.path });
  expect((await svc('backup', 'my copy')).code).toBe(0);
  const file = join(folder.path, 'my copy', '0-my data', 'data.mdb');
  await truncate(file, 5_000);
  const torn = await svc('restore', 'my copy');
  expect(torn.stderr).toContain(`${file}: the file ends`);
  await rm(file);
  const missing = await svc('restore', 'my copy');
  expect(missing.stderr).toContain(`${file} is missing. Nothing was changed.`);
  expect(missing.stderr).toContain('another backup');
  line.figure = `exit codes=${torn.code},${missing.code}`;
  expect([torn.code, missing.code]).toEqual([74, 74]);
  expect(readdirSync(folder.path).sort()).toEqual(['my copy', 'my data', 'svc-config.yaml']);
});

/** Each writes `a` and then `b` with the same number: at any moment `a` is `b` or one more. */
class PairWriters implements AsyncDisposable {
  readonly hasBegun: Promise<unknown>;
  readonly #running: Promise<void>[];
  #isStopped = false;

  constructor(worker: RawWorker) {
    const set = (key: string, value: number) => worker.call('state::set', { scope: 'pairs', key, value });
    this.hasBegun = Promise.all(Array.from({ length: PAIRS }, (_, pair) => set(`a-${pair}`, 0)));
    this.#running = Array.from({ length: PAIRS }, async (_, pair) => {
      for (let value = 0; !this.#isStopped; value++) {
        await set(`a-${pair}`, value);
        await set(`b-${pair}`, value);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }
}

async function expectOneMoment(worker: RawWorker): Promise<void> {
  const { result } = await worker.call('state::list', { scope: 'pairs', include_keys: true });
  const values = new Map((result as { key: string; value: number }[]).map(({ key, value }) => [key, value]));
  for (let pair = 0; pair < PAIRS; pair++) {
    const ahead = (values.get(`a-${pair}`) ?? Number.NaN) - (values.get(`b-${pair}`) ?? -1);
    expect([0, 1]).toContain(ahead);
  }
}
