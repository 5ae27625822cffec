// `svc backup --url …` for another engine than the one of this folder: the copy must hold the data of that engine.

import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runSvc } from '../e2e/cli/cli-process.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../support/engine/temporary-folder.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { stateYaml } from '../support/load/fault-tools.ts';

const WORK = { named: 'of-the-named-engine', local: 'of-the-local-folder' };

let folder: TemporaryFolder;
let named: TestEngine;

const place = (name: string) => join(folder.path, name);
const svc = (args: readonly string[], env: Record<string, string> = {}) =>
  runSvc(args, { cwd: folder.path, env: { XDG_CONFIG_HOME: place('config'), ...env } });

/** An engine with its own store, which holds one entry with the name of the engine. */
async function startStore(name: keyof typeof WORK): Promise<TestEngine> {
  const engine = await startTestEngine({ yaml: stateYaml(place(name)) });
  await using worker = await RawWorker.connect(engine.url);
  await worker.call('state::set', { scope: 's', key: 'whose', value: WORK[name] });
  return engine;
}

/** The bytes of the copied store. */
function contentOf(copy: string): string {
  const { stores } = JSON.parse(readFileSync(join(place(copy), 'svc-backup.json'), 'utf8'));
  return readFileSync(join(place(copy), stores[0].copy, 'data.mdb'), 'latin1');
}

beforeEach(async () => {
  folder = new TemporaryFolder();
  await writeFile(place('svc-config.yaml'), stateYaml(place('local')));
  await (await startStore('local')).drain();
  named = await startStore('named');
});

afterEach(async () => {
  await named.drain();
  folder[Symbol.dispose]();
});

describe('svc backup with a named engine', () => {
  test('copies the stores of the engine that a flag, a variable or a context names', async () => {
    await svc(['context', 'add', 'other', '--url', named.url]);
    const orders: readonly (readonly [string, string[], Record<string, string>])[] = [
      ['flag', ['--url', named.url], {}],
      ['variable', [], { SVC_URL: named.url }],
      ['context', ['--context', 'other'], {}],
    ];
    for (const [copy, args, env] of orders) {
      const { code, stdout, stderr } = await svc(['backup', copy, ...args, '--json'], env);
      expect([copy, code, stderr]).toEqual([copy, 0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ verified: true, stores: [{ folder: place('named') }] });
      expect(contentOf(copy)).toContain(WORK.named);
      expect(contentOf(copy)).not.toContain(WORK.local);
    }
  });

  test('needs no local configuration, and refuses --config', async () => {
    const args = ['backup', place('copy'), '--url', named.url];
    const both = await svc([...args, '--config', 'svc-config.yaml']);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringMatching(/--config .* --url/) });
    expect(existsSync(place('copy'))).toBe(false);
    using empty = new TemporaryFolder();
    expect(await runSvc(args, { cwd: empty.path })).toMatchObject({ code: 0 });
    expect(contentOf('copy')).toContain(WORK.named);
  });

  test('makes no copy if that engine is not reachable or refuses the token', async () => {
    const gone = await svc(['backup', 'copy', '--url', 'ws://127.0.0.1:9']);
    expect(gone).toMatchObject({ code: 5, stdout: '', stderr: expect.stringContaining('127.0.0.1:9') });
    expect(existsSync(place('copy'))).toBe(false);
    const port = `bridge_token: ${'x'.repeat(32)}\n${stateYaml(place('guarded'))}`;
    const guarded = await startTestEngine({ yaml: port });
    try {
      expect(await svc(['backup', 'copy', '--url', guarded.url])).toMatchObject({ code: 6, stdout: '' });
    } finally {
      await guarded.drain();
    }
    expect(existsSync(place('copy'))).toBe(false);
  });
});

test('svc backup without a named engine copies the stores of the local folder', async () => {
  const { code, stdout } = await svc(['backup', 'copy', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ verified: true, stores: [{ folder: place('local') }] });
  expect(contentOf('copy')).toContain(WORK.local);
});
