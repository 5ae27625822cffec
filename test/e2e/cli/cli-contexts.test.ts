// `svc context …`: saved engines by name.

import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { type EngineProcess, runSvc, startEngineProcess } from './cli-process.ts';

let engine: EngineProcess;
let folder: TemporaryFolder;

beforeAll(async () => {
  engine = await startEngineProcess();
});

afterAll(async () => {
  await engine?.stop();
});

beforeEach(() => {
  folder?.[Symbol.dispose]();
  folder = new TemporaryFolder();
});

const svc = (args: readonly string[], env: Record<string, string> = {}) =>
  runSvc(args, { env: { XDG_CONFIG_HOME: folder.path, ...env } });

describe('contexts', () => {
  test('[CLI-4] a context is used with --use, by --context or after svc context use, and never because it was added', async () => {
    const added = await svc(['context', 'add', 'first', '--url', engine.url]);
    expect(added.stderr).toContain('Choose it for all commands with: svc context use first');
    expect(await svc(['workers', 'list'], { SVC_URL: '' })).toMatchObject({ code: 5 });
    await svc(['context', 'remove', 'first']);
    await svc(['context', 'add', 'here', '--url', engine.url, '--use']);
    expect(await svc(['workers', 'list'])).toMatchObject({ code: 0 });
    await svc(['context', 'add', 'gone', '--url', 'ws://127.0.0.1:9']);
    expect(await svc(['workers', 'list', '--context', 'gone'])).toMatchObject({ code: 5 });
    await svc(['context', 'use', 'gone']);
    expect(await svc(['workers', 'list'])).toMatchObject({ code: 5 });
    expect(await svc(['workers', 'list'], { SVC_CONTEXT: 'here' })).toMatchObject({ code: 0 });
    const { stdout } = await svc(['context', 'list', '--json']);
    expect(JSON.parse(stdout)).toEqual([
      { name: 'here', url: engine.url, current: false },
      { name: 'gone', url: 'ws://127.0.0.1:9', current: true },
    ]);
  });

  test('flags and the environment take precedence over the context, and show names the source', async () => {
    await svc(['context', 'add', 'gone', '--url', 'ws://127.0.0.1:9', '--http-url', 'http://127.0.0.1:9', '--use']);
    expect(await svc(['workers', 'list', '--url', engine.url])).toMatchObject({ code: 0 });
    expect(await svc(['workers', 'list'], { SVC_URL: engine.url })).toMatchObject({ code: 0 });
    const { stdout } = await svc(['context', 'show', '--json'], { SVC_URL: engine.url });
    expect(JSON.parse(stdout)).toMatchObject({
      context: 'gone',
      url: { value: engine.url, source: 'environment (SVC_URL)' },
      http_url: { value: 'http://127.0.0.1:9', source: 'context (gone)' },
      token: { value: null, source: 'none' },
    });
  });

  test('are readable only by the user', async () => {
    await svc(['context', 'add', 'here', '--url', engine.url, '--token-file', 'token']);
    expect((await stat(join(folder.path, 'svc', 'contexts.json'))).mode & 0o777).toBe(0o600);
  });

  test('[CLI-8] an unknown name gets a suggestion; an existing name is replaced only with --force', async () => {
    await svc(['context', 'add', 'staging', '--url', engine.url]);
    const unknown = await svc(['workers', 'list', '--context', 'stagin']);
    expect(unknown).toMatchObject({ code: 3 });
    expect(unknown.stderr).toContain("Did you mean 'staging'?");
    expect(await svc(['context', 'add', 'staging', '--url', engine.url])).toMatchObject({ code: 7 });
    expect(await svc(['context', 'add', 'x', '--url', 'http://wrong'])).toMatchObject({ code: 2 });
    expect(await svc(['context', 'remove', 'staging'])).toMatchObject({ code: 0 });
    expect(await svc(['context', 'use', 'staging'])).toMatchObject({ code: 3 });
  });
});
