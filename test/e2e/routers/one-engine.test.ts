// What people who run an engine with several router threads rely on: its ports, its end, and what it observed.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';

const WORKERS = 12;
const ON_ANY_PORT = 'workers:\n  - name: svc-worker-manager\n    config: {port: 0}\n';

interface Health {
  readonly status: string;
  readonly components: { readonly router: { readonly details: RouterDetails } };
}

interface RouterDetails {
  readonly pressure: unknown;
  readonly routers: readonly { readonly connections: number; readonly pressure: string }[];
}

async function connectionsOf(worker: RawWorker): Promise<number[]> {
  const { result } = await worker.call('engine::health::check', {});
  return (result as Health).components.router.details.routers.map(({ connections }) => connections);
}

describe('the ports of two routers', () => {
  test('[RO2] 400 connections are spread over both, within a quarter of the half', async () => {
    await using engine = await startTestEngine({ yaml: `drain_timeout_ms: 100\n${ON_ANY_PORT}`, threads: 2 });
    const workers = await Promise.all(Array.from({ length: 400 }, () => RawWorker.connect(engine.url)));
    const [worker] = workers;
    if (worker === undefined) throw new Error('no worker');
    const counts = await waitFor('all are counted', async () => {
      const found = await connectionsOf(worker);
      return found.reduce((sum, one) => sum + one, 0) === workers.length ? found : undefined;
    });
    for (const count of counts) expect(Math.abs(count - 200), counts.join()).toBeLessThanOrEqual(50);
    for (const one of workers) one.close();
  });

  test.each([1, 2])('[RO2] a second engine with %d threads on the same port ends with exit code 7', async (threads) => {
    const port = await freePort();
    const yaml = `workers:\n  - name: svc-worker-manager\n    config: {port: ${port}}\n`;
    await using engine = await EngineProcess.start(yaml, { threads: 2 });
    await using second = await EngineProcess.spawn(yaml, { threads });
    expect(await second.end(30_000)).toMatchObject({ code: 7 });
    expect(second.stderr).toContain(`127.0.0.1:${port}`);
    await using worker = await RawWorker.connect(engine.url);
    expect((await worker.call('engine::health::check', {})).error).toBeUndefined();
  });

  test('[RO2] of three engines that start at once on the same port one serves, and two end with exit code 7', async () => {
    const port = await freePort();
    const yaml = `workers:\n  - name: svc-worker-manager\n    config: {port: ${port}}\n`;
    const engines = await Promise.all([1, 2, 3].map(() => EngineProcess.spawn(yaml, { threads: 2 })));
    const ended = new Set<number>();
    engines.forEach((engine, at) => {
      void engine.end(60_000).then(({ code }) => {
        if (code === 7) ended.add(at);
      });
    });
    await waitFor('two have ended', () => ended.size === 2, 30_000);
    await using worker = await RawWorker.connect(`ws://127.0.0.1:${port}`);
    expect((await worker.call('engine::health::check', {})).error).toBeUndefined();
    for (const engine of engines) await engine[Symbol.asyncDispose]();
  });
});

test('[RO8] health shows the pressure of the router that has the highest', async () => {
  const preload = new URL('../../support/cluster/busy-router.mjs', import.meta.url).href;
  await using engine = await EngineProcess.start(ON_ANY_PORT, { threads: 2, preload });
  await using worker = await RawWorker.connect(engine.url);
  const health = await waitFor(
    'it is degraded',
    async () => {
      const { result } = await worker.call('engine::health::check', {});
      const found = result as Health;
      return found.status === 'degraded' ? found : undefined;
    },
    30_000,
  );
  const { details } = health.components.router;
  expect(details.pressure).toMatchObject({ level: 'shed', cause: { quantity: 'event_loop_delay_ms' } });
  expect(details.routers.map(({ pressure }) => pressure)).toEqual(['normal', 'shed']);
}, 60_000);

test('[RO8] what every router observed is in one answer at once', async () => {
  await using engine = await startTestEngine({ yaml: `drain_timeout_ms: 100\n${ON_ANY_PORT}`, threads: 2 });
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(engine.url)));
  for (const [at, worker] of workers.entries()) await worker.serve(`f::${at}`, () => at);
  for (const worker of workers) for (const at of workers.keys()) await worker.call(`f::${at}`, {});
  const [worker] = workers;
  if (worker === undefined) throw new Error('no worker');
  const answer = await worker.call('engine::metrics::calls', { window_seconds: 300 });
  const { functions } = answer.result as { functions: { function_id: string; calls: number }[] };
  const calls = functions.filter(({ function_id: id }) => id.startsWith('f::')).map((one) => one.calls);
  expect(calls).toEqual(workers.map(() => WORKERS));
  for (const one of workers) one.close();
});

test('[RO6] [RO12] the functions and trigger types that a reload adds are known on every router at once', async () => {
  using folder = new TemporaryFolder();
  const configFile = join(folder.path, 'svc-config.yaml');
  await writeFile(configFile, ON_ANY_PORT);
  await using engine = await startTestEngine({ configFile, threads: 2 });
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(engine.url)));
  const seen = new Set<unknown>();
  for (const worker of workers) {
    await worker.serve('f::seen', (data) => {
      seen.add(Object(data).scope);
      return null;
    });
  }
  const setAll = () =>
    Promise.all(workers.map((one, at) => one.call('state::set', { scope: `s${at}`, key: 'k', value: 1 })));
  const refusal = { error: { code: 'function_not_found' } };
  expect(await setAll()).toMatchObject(workers.map(() => refusal));
  const state = '  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}\n';
  await writeFile(configFile, ON_ANY_PORT + state);
  expect(await engine.reload()).toMatchObject({ ok: true });
  expect((await setAll()).map(({ error }) => error)).toEqual(workers.map(() => undefined));
  for (const [at, worker] of workers.entries()) {
    worker.send({
      ...{ type: 'registertrigger', id: `t${at}`, trigger_type: 'state', function_id: 'f::seen' },
      config: { scope: `s${at}` },
    });
    await worker.settled();
  }
  await setAll();
  await waitFor('each trigger has fired', () => seen.size === WORKERS);
  await writeFile(configFile, ON_ANY_PORT);
  expect(await engine.reload()).toMatchObject({ ok: true });
  expect(await setAll()).toMatchObject(workers.map(() => refusal));
  for (const one of workers) one.close();
});

test('[RO12] a reload changes the sampling on every router', async () => {
  using folder = new TemporaryFolder();
  const configFile = join(folder.path, 'svc-config.yaml');
  const yaml = (ratio: number) =>
    `${ON_ANY_PORT}modules:\n  - name: svc-observability\n    config: {enabled: true, exporter: memory, sampling_ratio: ${ratio}}\n`;
  await writeFile(configFile, yaml(1));
  await using engine = await startTestEngine({ configFile, threads: 2 });
  await writeFile(configFile, yaml(0));
  expect(await engine.reload()).toMatchObject({ ok: true });
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(engine.url)));
  for (const [at, worker] of workers.entries()) await worker.serve(`f::${at}`, () => at);
  for (const worker of workers) for (const at of workers.keys()) await worker.call(`f::${at}`, {});
  expect(await workers[0]?.call('engine::traces::list', {})).toMatchObject({ result: { spans: [] } });
  for (const one of workers) one.close();
});

test('[RO8] what one router asks another for an answer is no trace of its own', async () => {
  const observed = 'modules:\n  - name: svc-observability\n    config: {enabled: true, exporter: memory}\n';
  await using engine = await startTestEngine({ yaml: `drain_timeout_ms: 100\n${ON_ANY_PORT}${observed}`, threads: 2 });
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(engine.url)));
  for (const worker of workers) await worker.call('engine::workers::list', {});
  const asked = { include_internal: true, limit: 100, attributes: [['function_id', 'engine::workers::list']] };
  expect(await workers[0]?.call('engine::traces::list', asked)).toMatchObject({ result: { total: WORKERS } });
  for (const one of workers) one.close();
});

describe('[RO12] a limit of the process with two routers', () => {
  /** What may come to both routers at the same moment. */
  const OVERSHOOT = 2;

  test('holds for connections', async () => {
    const yaml = `drain_timeout_ms: 100\nlimits: {trusted: {connections: 20}}\n${ON_ANY_PORT}`;
    await using engine = await startTestEngine({ yaml, threads: 2 });
    const opened: RawWorker[] = [];
    let refused = 0;
    for (let nth = 0; nth < 30; nth++) {
      try {
        opened.push(await RawWorker.connect(engine.url));
      } catch {
        refused++;
      }
    }
    expect(opened.length).toBeGreaterThanOrEqual(20);
    expect(opened.length).toBeLessThanOrEqual(20 + OVERSHOOT);
    expect(refused).toBe(30 - opened.length);
    for (const one of opened) one.close();
  });

  test('holds for calls in flight', async () => {
    const yaml = `drain_timeout_ms: 100\nlimits: {engine: {in_flight: 10}}\n${ON_ANY_PORT}`;
    await using engine = await startTestEngine({ yaml, threads: 2 });
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(engine.url)));
    for (const [at, worker] of workers.entries()) await worker.register(`f::${at}`);
    for (const [at, worker] of workers.slice(0, 10).entries()) {
      worker.startCall(`f::${at + 1}`, {});
      await workers[at + 1]?.next('invokefunction');
    }
    for (const [at, worker] of workers.entries()) {
      expect(await worker.call(`f::${(at + 5) % WORKERS}`, {})).toMatchObject({ error: { code: 'OVERLOADED' } });
    }
    for (const one of workers) one.close();
  });
});

test('[RO11] calls in flight on every router end before the process does', async () => {
  await using engine = await EngineProcess.start(ON_ANY_PORT, { threads: 2 });
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => RawWorker.connect(engine.url)));
  for (const [at, worker] of workers.entries()) await worker.register(`f::${at}`);
  const ids = workers.map((worker, at) => worker.startCall(`f::${(at + 1) % WORKERS}`, {}));
  const calls = await Promise.all(workers.map((worker) => worker.next('invokefunction')));
  engine.kill('SIGTERM');
  await Promise.all(workers.map((worker) => worker.next('draining')));
  for (const [at, worker] of workers.entries()) {
    const call = calls[at];
    if (call !== undefined) worker.answer(call, { result: at });
  }
  const answers = await Promise.all(workers.map((worker, at) => worker.answerTo(ids[at] ?? '')));
  expect(answers.map(({ result }) => result)).toEqual(workers.map((_, at) => (at + 1) % WORKERS));
  expect(await engine.end(30_000)).toMatchObject({ code: 0 });
});

test('[RO9] a router thread that dies ends the process, which says why', async () => {
  const preload = new URL('../../support/cluster/failing-router.mjs', import.meta.url).href;
  await using engine = await EngineProcess.start(ON_ANY_PORT, { threads: 2, preload });
  engine.kill('SIGUSR2');
  expect(await engine.end(30_000)).toMatchObject({ code: 1 });
  expect(engine.stderr).toContain('one of its router threads has ended');
  expect(engine.stderr).toContain('the test ends this router');
});
