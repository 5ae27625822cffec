// Modules that a reload adds to an engine with several routers, and removes from it.

import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { StreamClient } from '../../support/clients/stream-client.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { listenersOn } from '../../support/engine/sockets-on.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Enough that each of two routers has some of them. */
const CONNECTIONS = 12;
const ROOM = { stream_name: 'chat', group_id: 'room' };
const FIRST = 'drain_timeout_ms: 500\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n';

function onManyConnections<T>(connect: (at: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => connect(at)));
}

async function openEngine() {
  const folder = new TemporaryFolder();
  const configFile = join(folder.path, 'svc-config.yaml');
  await writeFile(configFile, FIRST);
  const engine = await startTestEngine({ configFile, threads: 2 });
  return {
    url: engine.url,
    /** With these entries as well. */
    async reload(...entries: readonly string[]) {
      await writeFile(configFile, FIRST + entries.map((entry) => `  - {${entry}}\n`).join(''));
      return await engine.reload();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await engine[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

test('[RO12] an HTTP port that a reload adds answers on every router', async () => {
  await using engine = await openEngine();
  const workers = await onManyConnections(() => RawWorker.connect(engine.url));
  for (const [at, worker] of workers.entries()) {
    await worker.serve(`f::${at}`, () => ({ body: at }));
    const config = { api_path: `/f/${at}`, http_method: 'GET' };
    worker.send({ type: 'registertrigger', id: `t${at}`, trigger_type: 'http', function_id: `f::${at}`, config });
    await worker.settled();
  }
  const port = await freePort();
  const entry = `name: svc-http, config: {port: ${port}, host: 127.0.0.1}`;
  for (const _again of [1, 2]) {
    expect(await engine.reload(entry)).toMatchObject({ ok: true });
    expect(await listenersOn(port)).toBe(2);
    const answers = await onManyConnections(async (at) => (await fetch(`http://127.0.0.1:${port}/f/${at}`)).json());
    expect(answers).toEqual(workers.map((_, at) => at));
    expect(await engine.reload()).toMatchObject({ ok: true });
    await waitFor('no router listens', async () => (await listenersOn(port)) === 0);
  }
  for (const worker of workers) worker.close();
});

test('[RO12] [RO16] a stream port that a reload adds serves clients on every router', async () => {
  await using engine = await openEngine();
  const worker = await RawWorker.connect(engine.url);
  const port = await freePort();
  const store = 'adapter: {name: kv, config: {store_method: in_memory}}';
  const entry = `name: svc-stream, config: {port: ${port}, host: 127.0.0.1, ${store}}`;
  for (const item_id of ['first', 'again']) {
    expect(await engine.reload(entry)).toMatchObject({ ok: true });
    expect(await listenersOn(port)).toBe(2);
    const connect = () => StreamClient.connect(`ws://127.0.0.1:${port}`, '/stream/chat/room/');
    const clients = await onManyConnections(connect);
    for (const client of clients) await client.nextOf('sync');
    await worker.call('stream::set', { ...ROOM, item_id, data: 1 });
    for (const client of clients) await client.nextOf('create');
    expect(await engine.reload()).toMatchObject({ ok: true });
    for (const client of clients) expect((await client.closed).code).toBe(1001);
  }
  worker.close();
});

test('[RO12] [RO15] state that a reload adds is one on every router, and a removed one is found on none', async () => {
  await using engine = await openEngine();
  using folder = new TemporaryFolder();
  const workers = await onManyConnections(() => RawWorker.connect(engine.url));
  const ofAll = (functionId: string, data: object) =>
    Promise.all(workers.map((worker) => worker.call(functionId, { scope: 's', key: 'k', ...data })));
  const ops = [{ type: 'increment', path: 'n', by: 1 }];
  // The second place is new, the third one has been used before.
  for (const [place, first] of [
    ['one', 0],
    ['two', 0],
    ['one', CONNECTIONS],
  ] as const) {
    const store = `adapter: {name: kv, config: {store_method: file_based, file_path: ${join(folder.path, place)}}}`;
    expect(await engine.reload(`name: svc-state, config: {${store}}`)).toMatchObject({ ok: true });
    await ofAll('state::update', { ops });
    const read = await ofAll('state::get', {});
    expect(read.map(({ result }) => result)).toEqual(workers.map(() => ({ n: first + CONNECTIONS })));
    expect(await engine.reload()).toMatchObject({ ok: true });
    const refused = await ofAll('state::get', {});
    expect(refused.map(({ error }) => error)).toMatchObject(workers.map(() => ({ code: 'function_not_found' })));
  }
  for (const worker of workers) worker.close();
});

test('[RO12] a port of workers that a reload adds takes connections on every router', async () => {
  await using engine = await openEngine();
  const [port, another] = [await freePort(), await freePort()];
  const entry = `name: svc-worker-manager, config: {port: ${port}}`;
  const restricted = 'rbac: {expose_functions: [\'match("f::*")\']}';
  expect(await engine.reload(entry)).toMatchObject({ ok: true });
  expect(
    await engine.reload(entry, `name: svc-worker-manager, config: {port: ${another}, ${restricted}}`),
  ).toMatchObject({ ok: true });
  expect([await listenersOn(port), await listenersOn(another)]).toEqual([2, 2]);
  const workers = await onManyConnections(() => RawWorker.connect(`ws://127.0.0.1:${port}`));
  for (const [at, worker] of workers.entries()) await worker.serve(`f::${at}`, () => at);
  const pages = await onManyConnections(() => RawWorker.connect(`ws://127.0.0.1:${another}`));
  const answers = await Promise.all(pages.map((page, at) => page.call(`f::${at}`)));
  expect(answers.map(({ result }) => result)).toEqual(workers.map((_, at) => at));
  expect(await engine.reload(entry)).toMatchObject({ ok: true });
  for (const page of pages)
    expect(await page.closed).toMatchObject({ code: 1001, reason: 'the engine closes this port' });
  const later = await Promise.all(workers.map((worker, at) => worker.call(`f::${(at + 1) % CONNECTIONS}`)));
  expect(later.map(({ result }) => result)).toEqual(workers.map((_, at) => (at + 1) % CONNECTIONS));
  for (const worker of workers) worker.close();
});

test('[RO12] [K1] a port that one router cannot open is opened by none', async () => {
  const port = await freePort();
  const preload = new URL('../../support/cluster/refusing-router.mjs', import.meta.url).href;
  const entrance = ['env', 'SVC_TRANSPORT=ws', `SVC_TEST_REFUSED_PORT=${port}`];
  await using engine = await EngineProcess.start(FIRST, { threads: 3, preload, entrance });
  const next = `${engine.configFile}.next`;
  await writeFile(next, `${FIRST}  - {name: svc-http, config: {port: ${port}, host: 127.0.0.1}}\n`);
  // The engine reads the file when it changes, so it changes in one step.
  await rename(next, engine.configFile);
  await waitFor('the reload is refused', () => engine.stderr.includes('The configuration was not reloaded'));
  expect(engine.stderr).toMatch(new RegExp(`not reloaded.*${port}`));
  expect(await listenersOn(port)).toBe(0);
  await using worker = await RawWorker.connect(engine.url);
  expect(await worker.call('engine::health::check', {})).toMatchObject({ result: { status: 'degraded' } });
});
