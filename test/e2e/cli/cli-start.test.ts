// Starting, checking and stopping the engine from the command line.

import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { registerWorker } from '../../../src/sdk/index.ts';
import { findOldNode } from '../../support/engine/old-node.ts';
import { ANY_PORT, finished, makeFolder, runSvc, spawnSvc, startEngineProcess, waitForText } from './cli-process.ts';

const STARTED = /is running[\s\S]*ws:\/\/127\.0\.0\.1:(\d+)[\s\S]*svc-worker-manager/;

describe.concurrent('svc start', { timeout: 60_000 }, () => {
  test('[CLI-1] the start block goes to stderr and names listeners, threads and modules', async () => {
    const folder = await makeFolder({ 'svc-config.yaml': ANY_PORT });
    const child = spawnSvc(['start', '--threads', '1'], { cwd: folder.path });
    const end = finished(child);
    await waitForText(child.stderr, STARTED);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await end;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^svc \d+\.\d+\.\d+ is running\n/m);
    expect(stderr).toMatch(/threads +1 router; \d for large frames \(pool_threads\)/);
    expect(stderr).toMatch(/config +svc-config\.yaml/);
    await folder.remove();
  });

  test('[CLI-4] SIGINT and SIGTERM stop the engine with exit code 0', async () => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const engine = await startEngineProcess();
      engine.child.kill(signal);
      expect(await once(engine.child, 'exit')).toEqual([0, null]);
      await engine.stop();
    }
  });

  test('[G1] a second signal stops the engine immediately with exit code 130, although a call runs', async () => {
    const engine = await startEngineProcess();
    const worker = registerWorker(engine.url, { handle_signals: false, drain_timeout_ms: 0, log: () => undefined });
    const called = new Promise<void>((resolve) => {
      worker.registerFunction('slow::call', () => {
        resolve();
        return new Promise(() => undefined);
      });
    });
    const draining = new Promise<void>((resolve) => worker.on('draining', () => resolve()));
    await worker.ready();
    const call = worker.trigger({ function_id: 'slow::call' }).catch((error: Error) => error);
    await called;
    engine.child.kill('SIGTERM');
    await draining;
    engine.child.kill('SIGTERM');
    expect(await once(engine.child, 'exit')).toEqual([130, null]);
    expect(await call).toBeInstanceOf(Error);
    await worker.shutdown();
    await engine.stop();
  });

  test('[CLI-4] a port in use ends the second engine with exit code 7', async () => {
    const engine = await startEngineProcess();
    const port = new URL(engine.url).port;
    const folder = await makeFolder({ 'svc-config.yaml': ANY_PORT.replace('port: 0', `port: ${port}`) });
    const done = await runSvc(['start', '--json'], { cwd: folder.path });
    expect(done).toMatchObject({ code: 7, stdout: '' });
    expect(JSON.parse(done.stderr.trimEnd().split('\n').at(-1) ?? '').error).toMatchObject({
      code: 'PORT_IN_USE',
      message: expect.stringContaining(port),
    });
    await folder.remove();
    await engine.stop();
  });

  test('[CLI-12] on an old Node the engine runs on the pinned Node, and one signal stops it cleanly', async ({
    skip,
  }) => {
    const oldNode = findOldNode();
    if (oldNode === undefined) return skip('no Node from 20.12 to 22.14 on the PATH');
    const folder = await makeFolder({ 'svc-config.yaml': ANY_PORT });
    const child = spawnSvc(['--config', 'svc-config.yaml', '--threads', '1'], { cwd: folder.path, node: oldNode });
    const end = finished(child);
    await waitForText(child.stderr, STARTED);
    child.kill('SIGINT');
    expect(await end).toMatchObject({ code: 0, stdout: '' });
    await folder.remove();
  });
});

describe.concurrent('the configuration of svc start', { timeout: 60_000 }, () => {
  test('[CLI-7] without a file the help is shown, nothing is created, and the exit code is 2', async () => {
    const folder = await makeFolder();
    for (const args of [[], ['start']]) {
      const done = await runSvc(args, { cwd: folder.path });
      expect(done).toMatchObject({ code: 2, stdout: '' });
      expect(done.stderr).toContain('Usage: svc ');
      expect(done.stderr).toContain(`There is no svc-config.yaml in ${folder.path}.`);
    }
    expect(await readdir(folder.path)).toEqual([]);
    await folder.remove();
  });

  test.each([
    [['--config', 'none.yaml']],
    [['start', '--config=none.yaml']],
    [['config', 'check', '--config', 'none.yaml']],
  ])('[CLI-4] %j with a missing file ends with exit code 78 and names the path', async (args) => {
    const folder = await makeFolder();
    const done = await runSvc(args, { cwd: folder.path });
    expect(done).toMatchObject({ code: 78, stdout: '' });
    expect(done.stderr).toContain(join(folder.path, 'none.yaml'));
    await folder.remove();
  });

  test('[CLI-3] an invalid file is reported with the place of every problem and exit code 78, also as JSON', async () => {
    const text = 'workers:\n  - name: svc-worker-manger\n    config:\n      port: 0\ndrain_timeout_ms: -1\n';
    const folder = await makeFolder({ 'svc-config.yaml': text });
    for (const args of [['start'], ['start', '--check'], ['config', 'check'], ['config', 'show']]) {
      const done = await runSvc([...args, '--json'], { cwd: folder.path });
      expect(done).toMatchObject({ code: 78, stdout: '' });
      const { error } = JSON.parse(done.stderr);
      expect(error.code).toBe('CONFIG_INVALID');
      expect(error.problems).toEqual([
        expect.objectContaining({ line: 2, column: 11, message: expect.stringContaining('svc-worker-manager') }),
        expect.objectContaining({ line: 5, path: 'drain_timeout_ms' }),
      ]);
    }
    const shown = await runSvc(['config', 'check'], { cwd: folder.path });
    expect(shown.stderr).toContain('svc-config.yaml:2:11: workers[0].name: ');
    await folder.remove();
  });

  test('[X22] config show prints all defaults and no secret', async () => {
    const token = 'a-token-of-more-than-thirty-two-bytes';
    const folder = await makeFolder({ 'svc-config.yaml': `bridge_token: \${MY_TOKEN}\n${ANY_PORT}` });
    const options = { cwd: folder.path, env: { MY_TOKEN: token } };
    const yaml = await runSvc(['config', 'show'], options);
    expect(yaml).toMatchObject({ code: 0, stderr: '' });
    expect(yaml.stdout).toMatch(/^drain_timeout_ms: 25000$/m);
    const json = await runSvc(['config', 'show', '--json'], options);
    expect(JSON.parse(json.stdout)).toMatchObject({
      drain_timeout_ms: 25_000,
      workers: expect.arrayContaining([
        expect.objectContaining({ name: 'svc-engine-functions' }),
        expect.objectContaining({
          name: 'svc-worker-manager',
          config: expect.objectContaining({ host: '127.0.0.1', port: 0 }),
        }),
      ]),
    });
    expect(yaml.stdout + json.stdout).not.toContain(token);
    await folder.remove();
  });

  test('config show --sources prints the source of every value', async () => {
    const text = `threads: 3\n${ANY_PORT}  - {name: orders, path: ./orders, env: {LEVEL: '\${MY_LEVEL:info}'}}\n`;
    const folder = await makeFolder({ 'svc-config.yaml': text });
    const done = await runSvc(['config', 'show', '--sources', '--json'], { cwd: folder.path });
    expect(JSON.parse(done.stdout)).toEqual(
      expect.arrayContaining([
        { path: 'threads', value: 3, source: 'file' },
        { path: 'drain_timeout_ms', value: 25_000, source: 'default' },
        { path: 'workers.svc-worker-manager.port', value: 0, source: 'file' },
        { path: 'workers.svc-worker-manager.host', value: '127.0.0.1', source: 'default' },
        { path: 'workers.orders.path', value: './orders', source: 'file' },
        { path: 'workers.orders.env.LEVEL', value: '[redacted]', source: 'environment' },
      ]),
    );
    await folder.remove();
  });

  test('[X1] a check prints the same warnings as a start', async () => {
    const folder = await makeFolder({ 'svc-config.yaml': `${ANY_PORT}  - {name: svc-stream, config: {port: 0}}\n` });
    for (const args of [
      ['config', 'check'],
      ['start', '--check'],
    ]) {
      const done = await runSvc(args, { cwd: folder.path });
      expect(done.code).toBe(0);
      expect(done.stderr).toContain("svc-config.yaml:5:24: workers[1].config: No auth_function, and '0.0.0.0'");
    }
    await folder.remove();
  });

  test('[CLI-2] a valid file is reported as valid, and nothing is started', async () => {
    const folder = await makeFolder({ 'svc-config.yaml': ANY_PORT });
    for (const args of [
      ['config', 'check'],
      ['start', '--check'],
    ]) {
      const done = await runSvc(args, { cwd: folder.path });
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(done.stdout).toMatch(/^svc-config\.yaml is valid/);
      expect(JSON.parse((await runSvc([...args, '--json'], { cwd: folder.path })).stdout)).toMatchObject({
        valid: true,
      });
    }
    await folder.remove();
  });

  test.each([
    [['start', '--threads', '0'], "--threads is '0'"],
    [['start', '--threads', 'many'], "--threads is 'many'"],
    [['start', '--config', 'a', '--use-default-config'], 'exclude each other'],
    [['--confg', 'a'], 'Did you mean --config?'],
  ])('[CLI-4] %j is a usage error with exit code 2', async (args, text) => {
    const folder = await makeFolder({ 'svc-config.yaml': ANY_PORT });
    const done = await runSvc(args, { cwd: folder.path });
    expect(done).toMatchObject({ code: 2, stdout: '' });
    expect(done.stderr).toContain(text);
    await folder.remove();
  });
});
