// `svc bench`: every kind runs, prints its figures, and cleans up. The figures themselves are not judged here.

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { KINDS } from '../../../src/cli/commands/bench/stages.ts';
import { registerWorker, type SvcWorker } from '../../../src/sdk/index.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import {
  ANY_PORT,
  type EngineProcess,
  finished,
  runSvc,
  spawnSvc,
  startEngineProcess,
  waitForText,
} from './cli-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';
const CONFIG = `${ANY_PORT}  - name: svc-state
    config: {${IN_MEMORY}}
  - name: svc-stream
    config: {port: 0, ${IN_MEMORY}}
  - name: svc-queue
    config: {adapter: {name: builtin, config: {store_method: in_memory}}}
  - name: svc-http
    config: {port: 0}
  - name: svc-cron
    config: {${IN_MEMORY}}
`;

const folder = new TemporaryFolder();
let engine: EngineProcess;
/** An engine without the modules that the benchmarks measure. */
let bare: EngineProcess;
let observer: SvcWorker;
let addresses: readonly string[];

beforeAll(async () => {
  [engine, bare] = await Promise.all([startEngineProcess(CONFIG), startEngineProcess(ANY_PORT)]);
  addresses = engine.startDocument.listeners.map(({ address }) => address);
  observer = registerWorker(engine.url, { worker_name: 'observer', handle_signals: false });
  await observer.ready();
});
afterAll(async () => {
  await observer?.shutdown();
  await Promise.all([engine?.stop(), bare?.stop()]);
  folder[Symbol.dispose]();
});

function bench(kind: string, ...args: readonly string[]) {
  const http = addresses.find((address) => address.startsWith('http')) ?? '';
  const stream = addresses.filter((address) => address.startsWith('ws')).at(-1) ?? '';
  const places = ['--url', engine.url, '--http-url', http, '--stream-url', stream];
  const small = ['--clients', kind === 'cron' ? '1' : '2', '--msgs', kind === 'cron' ? '1' : '20', '--warmup', '1ms'];
  return runSvc(['bench', kind, ...places, ...small, '--subscribers', '3', '--json', ...args], { cwd: folder.path });
}

test.each(KINDS)('[CLI-32] svc bench %s measures operations without an error', async (kind) => {
  const { code, stdout, stderr } = await bench(kind);
  expect(code, stderr).toBe(0);
  const report = JSON.parse(stdout);
  expect(report).toMatchObject({ kind, errors: {}, interrupted: false });
  expect(report.ops).toBe(kind === 'cron' ? 1 : kind === 'stream-fanout' ? 60 : 20);
  expect(report.latency.max_ms).toBeGreaterThanOrEqual(report.latency.p50_ms);
  expect(report.clients).toHaveLength(kind === 'cron' ? 1 : 2);
  expect(report.engine).toEqual({ cpu_percent: expect.any(Number), rss_bytes: expect.any(Number) });
});

test('[CLI-32] a run leaves no function, trigger, scope or stream in the engine', async () => {
  await Promise.all(['state-set', 'stream-set', 'http', 'enqueue'].map((kind) => bench(kind)));
  const lists = [
    'engine::functions::list',
    'engine::registered-triggers::list',
    'state::list_groups',
    'stream::list_all',
  ];
  expect((await Promise.all(lists.map(list))).join()).not.toContain('svc-bench');
});

test('[CLI-32] --csv and --hdr write their files', async () => {
  await bench('invoke', '--csv', 'run.csv', '--hdr', 'run.hdr');
  expect(readFileSync(join(folder.path, 'run.csv'), 'utf8')).toMatch(
    /^client,ops,per_second\n0,\d+,.*\n1,\d+,.*\ntotal,20,/,
  );
  expect(readFileSync(join(folder.path, 'run.hdr'), 'utf8')).toMatch(/Percentile/);
});

describe('[CLI-32] --compare', () => {
  const OLD = { kind: 'invoke', per_second: 1, latency: { p50_ms: 1e9, p99_ms: 1e9 }, parameters: {} };

  test.each([
    ['a run that was slower', 0, 0.0001],
    ['a run that was much faster', 1, 1e9],
  ])('with %s, the exit code is %d', async (_what, expected, perSecond) => {
    const old = { ...OLD, per_second: perSecond };
    writeFileSync(join(folder.path, 'old.json'), JSON.stringify(old));
    const { code, stdout } = await bench('invoke', '--compare', 'old.json');
    expect(JSON.parse(stdout).changes[0]).toMatchObject({ name: 'per_second', worse: expected === 1 });
    expect(code).toBe(expected);
  });

  test.each([
    ['no run', '{}', 'is not the output of svc bench'],
    ['a run of another kind', JSON.stringify({ ...OLD, kind: 'void' }), 'is a run of svc bench void'],
  ])('%s is refused before the run starts, with a hint how to save one', async (_what, text, reason) => {
    writeFileSync(join(folder.path, 'other.json'), text);
    const { code, stdout, stderr } = await bench('invoke', '--compare', 'other.json');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr).error.message).toContain(reason);
    expect(JSON.parse(stderr).error.hint).toContain('svc bench invoke --json > old.json');
  });

  test('names the parameters in which the two runs differ', async () => {
    const parameters = { clients: 50, size: 128 };
    writeFileSync(join(folder.path, 'old.json'), JSON.stringify({ ...OLD, parameters }));
    const { stderr } = await bench('invoke', '--compare', 'old.json');
    expect(stderr).toContain('clients was 50 and is 2.');
  });
});

test('[CLI-32] errors are counted by code; a run with only errors fails', async () => {
  const { code, stdout } = await bench('invoke', '--function', 'missing::function');
  expect(JSON.parse(stdout).errors).toEqual({ function_not_found: 20 });
  expect(code).toBe(1);
});

test('[CLI-32] [RO14] --threads-sweep measures engines of its own and recommends a number of threads', async () => {
  const args = ['--threads-sweep', '--clients', '2', '--msgs', '20', '--warmup', '1ms', '--json'];
  const { code, stdout, stderr } = await runSvc(['bench', 'invoke', ...args], { cwd: folder.path });
  expect(code, stderr).toBe(0);
  const { runs, recommended } = JSON.parse(stdout);
  expect(runs[0]).toMatchObject({ threads: 1, per_second: expect.any(Number), rss_bytes: expect.any(Number) });
  expect(runs.map(({ threads }: { threads: number }) => threads)).toContain(recommended.threads);
});

test('[CLI-32] --warmup 0s measures from the start', async () => {
  const { code, stdout } = await bench('invoke', '--warmup', '0s');
  expect(code).toBe(0);
  expect(JSON.parse(stdout).parameters.warmup_ms).toBe(0);
});

test('[CLI-9] a file that cannot be written does not lose the result', async () => {
  const { code, stdout, stderr } = await bench('invoke', '--csv', 'none/run.csv');
  expect(code).toBe(1);
  expect(JSON.parse(stdout).ops).toBe(20);
  expect(JSON.parse(stderr).error).toMatchObject({ code: 'FILE_UNUSABLE' });
});

test('[CLI-9] the wait for a missing stream server ends after --timeout', async () => {
  // The same time limits the connection to the engine, which a busy machine does not open within a second.
  const { code, stderr } = await bench('stream-fanout', '--stream-url', 'ws://127.0.0.1:1', '--timeout', '5s');
  expect(code).toBe(5);
  expect(JSON.parse(stderr).error.hint).toContain('--stream-url');
});

test('[CLI-11] Ctrl-C also ends a run before its first operation', async () => {
  const args = ['bench', 'stream-fanout', '--url', engine.url, '--stream-url', 'ws://127.0.0.1:1'];
  const running = spawnSvc(args);
  const ended = once(running, 'exit');
  await vi.waitFor(async () => expect(await list('engine::functions::list')).toContain('svc-bench'), 30_000);
  running.kill('SIGINT');
  expect(await ended).toEqual([130, null]);
});

test.each(['invoke', 'cron', 'state-set'])(
  '[CLI-9] svc bench %s ends with an error when the engine is killed',
  async (kind) => {
    const doomed = await startEngineProcess(CONFIG);
    const running = spawnSvc(['bench', kind, '--url', doomed.url, '--duration', '1h', '--warmup', '1ms', '--json']);
    const end = finished(running);
    const witness = registerWorker(doomed.url, { handle_signals: false });
    const functions = async () =>
      JSON.stringify(await witness.trigger({ function_id: 'engine::functions::list', payload: {} }));
    await vi.waitFor(async () => expect(await functions()).toContain('svc-bench'), 30_000);
    doomed.child.kill('SIGKILL');
    const { code, stdout, stderr } = await end;
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(JSON.parse(stderr).error.message).toMatch(/^(Lost|Cannot reach) the engine at/);
    await witness.shutdown();
    await doomed.stop();
  },
);

test('[CLI-11] Ctrl-C prints what was measured so far and exits with 130', async () => {
  let noteCall = (): void => {};
  const called = new Promise<void>((resolve) => {
    noteCall = resolve;
  });
  await observer.registerFunction('observer::called', () => noteCall()).ready();
  const args = ['bench', 'invoke', '--url', engine.url, '--function', 'observer::called', '--duration', '1h'];
  const running = spawnSvc([...args, '--warmup', '1ms', '--json']);
  running.stderr?.resume();
  const ended = once(running, 'exit');
  const report = waitForText(running.stdout, /\n/);
  await called;
  running.kill('SIGINT');
  expect(JSON.parse(await report)).toMatchObject({ interrupted: true });
  expect(await ended).toEqual([130, null]);
});

async function list(function_id: string): Promise<string> {
  return JSON.stringify(await observer.trigger({ function_id, payload: {} }));
}

test.each(KINDS.filter((kind) => kind !== 'invoke' && kind !== 'void'))(
  '[CLI-9] without the module for svc bench %s, the error names the module and nothing runs',
  async (kind) => {
    const { code, stdout, stderr } = await runSvc(['bench', kind, '--url', bare.url, '--clients', '1', '--msgs', '1']);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/the engine runs without it\.\nAdd it: svc worker add svc-/);
  },
);

test('[CLI-8] an unknown kind is refused with the list of kinds', async () => {
  const { code, stderr } = await bench('nothing');
  expect(code).toBe(2);
  expect(stderr).toContain('state-set');
});
