// `svc doctor`: its findings in a healthy and in a broken project, and its fixes.

import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { registerWorker } from '../../../src/sdk/index.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { ANY_PORT, type EngineProcess, runSvc, startEngineProcess } from './cli-process.ts';

/** Each test runs the command several times, and the command loads the engine's checks. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

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

interface Check {
  readonly name: string;
  readonly level: string;
  readonly text: string;
  readonly fix?: string;
}

async function examine(yaml: string, ...args: readonly string[]) {
  writeFileSync(join(folder.path, 'svc-config.yaml'), yaml);
  const { code, stdout } = await runSvc(['doctor', '--json', '--url', engine.url, ...args], { cwd: folder.path });
  const report: { ok: boolean; checks: readonly Check[] } = JSON.parse(stdout);
  return { code, ...report, of: (name: string) => report.checks.filter((check) => check.name === name) };
}

test('[CLI-30] a healthy project has no failure, and the exit code is 0', async () => {
  const found = await examine(ANY_PORT);
  expect(found.checks.filter(({ level }) => level === 'fail')).toEqual([]);
  expect(found).toMatchObject({ code: 0, ok: true });
  const names = new Set(found.checks.map(({ name }) => name));
  for (const name of ['node', 'open files', 'configuration', 'engine', 'clock', 'versions', 'workers', 'triggers']) {
    expect(names).toContain(name);
  }
  for (const { level, fix } of found.checks) expect(fix !== undefined).toBe(level !== 'ok');
});

test('[CLI-30] a worker without functions is a warning; the console without functions is not', async () => {
  const names = ['svc-console', 'idle'];
  const workers = names.map((worker_name) => registerWorker(engine.url, { worker_name, handle_signals: false }));
  await Promise.all(workers.map((worker) => worker.ready()));
  const found = await examine(ANY_PORT);
  await Promise.all(workers.map((worker) => worker.shutdown()));
  expect(found.of('workers')).toMatchObject([{ level: 'warn', text: 'without functions: idle' }]);
});

test('[CLI-30] an invalid configuration is a failure, and the exit code is 1', async () => {
  const found = await examine('worker: []\n');
  expect(found).toMatchObject({ code: 1, ok: false });
  expect(found.of('configuration')).toMatchObject([{ level: 'fail', text: expect.stringContaining('worker') }]);
});

test.each([
  ['without HTTP', '', 'not available: it needs the module svc-http'],
  ['on this machine', '  - {name: svc-http, config: {port: 0}}\n', 'answers only this machine'],
  ['open to others', '  - {name: svc-http, config: {port: 0, host: 0.0.0.0}}\n', 'other machines are refused'],
])('[CLI-30] [X4] reports which machines the console answers: %s', async (_where, http, text) => {
  const found = await examine(ANY_PORT + http);
  expect(found.of('console')).toMatchObject([{ level: 'ok', text: expect.stringContaining(text) }]);
});

test('[CLI-30] an engine that does not answer is a failure that names the address', async () => {
  const found = await examine(ANY_PORT, '--url', 'ws://127.0.0.1:9');
  expect(found.code).toBe(1);
  expect(found.of('engine')).toMatchObject([{ level: 'fail', text: expect.stringContaining('ws://127.0.0.1:9') }]);
});

test('[CLI-30] a port that another program uses is a failure', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  try {
    const found = await examine(`workers: [{name: svc-http, config: {port: ${port}}}]\n`, '--url', 'ws://127.0.0.1:9');
    expect(found.of(`port ${port}`)).toMatchObject([{ level: 'fail', fix: expect.stringContaining('svc-http') }]);
  } finally {
    other.close();
  }
});

test('[CLI-30] --fix announces and creates a missing data directory', async () => {
  const store = 'adapter: {name: kv, config: {store_method: file_based, file_path: ./data/state}}';
  const yaml = `${ANY_PORT}  - name: svc-state\n    config: {${store}}\n`;
  const missing = (await examine(yaml)).of('data directory');
  expect(missing).toMatchObject([{ level: 'warn', text: expect.stringContaining('in memory') }]);
  expect(existsSync(join(folder.path, 'data'))).toBe(false);
  const { stderr } = await runSvc(['doctor', '--fix', '--url', engine.url], { cwd: folder.path });
  expect(stderr).toContain('Fixes:');
  expect(existsSync(join(folder.path, 'data/state'))).toBe(true);
  expect((await examine(yaml)).of('data directory')).toMatchObject([{ level: 'ok' }]);
});

test('[CLI-30] a missing data directory is ok if the first start can create it, else a failure', async () => {
  const yaml = (path: string) => `${ANY_PORT}  - name: svc-state
    config: {adapter: {name: kv, config: {store_method: file_based, file_path: ${path}}}}\n`;
  const noEngine = ['--url', 'ws://127.0.0.1:9'];
  const [found] = (await examine(yaml('./fresh/state'), ...noEngine)).of('data directory');
  expect(found).toMatchObject({ level: 'ok', text: expect.stringContaining('the first start creates it') });
  const [blocked] = (await examine(yaml('./svc-config.yaml/state'), ...noEngine)).of('data directory');
  expect(blocked).toMatchObject({ level: 'fail', fix: expect.stringContaining('file_path') });
});

test('[CLI-1] with --plain it prints one line for each check, and the fix below it', async () => {
  const { stdout, code } = await runSvc(['doctor', '--plain', '--url', 'ws://127.0.0.1:9'], { cwd: folder.path });
  expect(code).toBe(1);
  expect(stdout).toMatch(/^fail\tengine: Cannot reach the engine at ws:\/\/127\.0\.0\.1:9/m);
  expect(stdout).toMatch(/^ {4}\tStart it with: svc --config/m);
});
