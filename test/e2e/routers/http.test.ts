// HTTP with several router threads: a request is answered alike whichever router accepted its connection.

import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, askJson, type HttpEngine, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { listenersOn } from '../../support/engine/sockets-on.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { consoleCall, consoleReply, LiveClient } from '../../support/telemetry/console-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Enough that each of two routers has some of the connections. */
const CONNECTIONS = 24;

function onManyConnections<T>(request: () => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, request));
}

async function bindRoute(worker: RawWorker, functionId: string, path: string, method = 'GET'): Promise<void> {
  const config = { api_path: path, http_method: method };
  worker.send({ type: 'registertrigger', id: functionId, trigger_type: 'http', function_id: functionId, config });
  await worker.settled();
}

test('[RO13] every router listens on the HTTP port, and answers the routes of workers of all routers', async () => {
  await using engine = await startHttpEngine('', { threads: 2 });
  expect(await listenersOn(engine.httpPort)).toBe(2);
  const workers = await Promise.all(Array.from({ length: 4 }, () => RawWorker.connect(engine.url)));
  for (const [at, worker] of workers.entries()) {
    await worker.serve(`f::${at}`, () => ({ body: { at } }));
    await bindRoute(worker, `f::${at}`, `/f/${at}`);
  }
  for (const at of workers.keys()) {
    const answers = await onManyConnections(() => askJson(engine, `/f/${at}`));
    expect(answers).toEqual(answers.map(() => ({ status: 200, body: { at } })));
  }
});

test('[RO13] a route that is taken back is answered on no router', async () => {
  await using engine = await startHttpEngine('', { threads: 2 });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('f::here', () => ({ body: 1 }));
  await bindRoute(worker, 'f::here', '/here');
  worker.send({ type: 'unregistertrigger', id: 'f::here', trigger_type: 'http', function_id: 'f::here', config: {} });
  await worker.settled();
  const answers = await onManyConnections(() => ask(engine, '/here'));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
});

test('[RO8] the log lines of every router are log records, and fire log triggers', async () => {
  await using engine = await startHttpEngine('', { threads: 2 });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('f::fail', () => {
    throw new Error('no shelf');
  });
  await bindRoute(worker, 'f::fail', '/fail');
  const heard: unknown[] = [];
  await worker.serve('f::hear', (record) => void heard.push(record));
  worker.send({
    type: 'registertrigger',
    id: 'logs',
    trigger_type: 'log',
    function_id: 'f::hear',
    config: { level: 'warn' },
  });
  await worker.settled();
  // Lines with the same text are limited to 20 a second.
  const answers = await Promise.all(Array.from({ length: 16 }, () => ask(engine, '/fail')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 500));
  const found = await worker.call('engine::logs::search', { query: '"answered with an error" function=f::fail' });
  expect(found.result).toMatchObject({ total: 16 });
  await waitFor('the trigger has fired for each', () => heard.length >= 16);
  expect(heard).toHaveLength(16);
});

test('[RO13] the paths of the engine and of the console speak for the whole process', async () => {
  await using engine = await startHttpEngine('', { threads: 2, workers: ['{name: svc-console-api}'] });
  const workers = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawWorker.connect(engine.url)));
  for (const [at, worker] of workers.entries()) await worker.register(`f::${at}`);
  for (const path of ['/healthz', '/livez', '/readyz', '/metrics']) {
    const answers = await onManyConnections(() => ask(engine, path));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  const lists = await onManyConnections(() => askJson(engine, '/_console/v1/workers'));
  for (const { body } of lists) expect(body).toMatchObject({ total: CONNECTIONS });
  const missing = await onManyConnections(() => askJson(engine, '/nowhere'));
  for (const { body } of missing) expect(body).toMatchObject({ error: { code: 'NOT_FOUND' } });
});

test('[RO8] the console knows the workers of every router, and which of them ran a call', async () => {
  await using engine = await startHttpEngine('', { threads: 2, workers: ['{name: svc-console-api}'] });
  const workers = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawWorker.connect(engine.url)));
  for (const [at, worker] of workers.entries()) {
    await worker.serve(`f::${at}`, () => at);
    await worker.call('engine::workers::register', { name: `worker ${at}` });
  }
  await waitFor('all are counted', async () => {
    const { counts } = await consoleCall(engine, 'GET /status');
    return counts.workers === CONNECTIONS && counts.workers_active === CONNECTIONS;
  });
  for (const at of workers.keys()) {
    const body = { function_id: `f::${at}`, payload: {} };
    const { headers, text } = await consoleReply(engine, 'POST /invoke', { body });
    expect([text, headers['x-svc-worker']]).toEqual([`${at}`, encodeURIComponent(`worker ${at}`)]);
    const { history } = await consoleCall(engine, 'GET /workers/{id}', { path: [`worker ${at}`] });
    expect(history.map(({ event }) => event)).toEqual(['connected']);
  }
  for (const one of workers) one.close();
  await waitFor('all have left', async () => (await consoleCall(engine, 'GET /status')).counts.workers === 0);
});

test('[RO13] a live socket of the console is served whichever router accepted it', async () => {
  await using engine = await startHttpEngine('', { threads: 2, workers: ['{name: svc-console-api}'] });
  const url = `ws://127.0.0.1:${engine.httpPort}/_console/v1/live`;
  const clients = await onManyConnections(() => LiveClient.open(url));
  for (const live of clients) {
    const id = await live.subscribe('health');
    await live.item(id, 'the engine is reported', ({ kind }) => kind === 'engine');
    live.socket.close();
  }
});

test('[RO13] a route of a restricted connection gets the whole request, and its whole answer is passed on', async () => {
  const browsers = '{name: svc-worker-manager, config: {port: 0, rbac: {allow_trigger_types: [http]}}}';
  await using engine = await startHttpEngine('', { threads: 2, workers: [browsers] });
  const url = engine.urls.filter((one) => one.startsWith('ws:')).at(-1);
  await using guest = await RawWorker.connect(url ?? '');
  await guest.serve('guest::echo', (data) => ({ body: Object(data).body }));
  await bindRoute(guest, 'guest::echo', '/echo', 'POST');
  const text = JSON.stringify('é'.repeat(200_000));
  const headers = { 'content-type': 'application/json' };
  // Bodies of restricted routes share a small part of the memory for bodies.
  for (let nth = 0; nth < CONNECTIONS; nth++) {
    expect(await ask(engine, '/echo', { method: 'POST', headers, body: text })).toMatchObject({ status: 200, text });
  }
});

test('[RO13] a trigger without an owner is served on every router', async () => {
  await using engine = await startHttpEngine('', { threads: 2 });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('f::any', () => ({ body: 'any' }));
  await worker.serve('f::kept', () => ({ body: 'kept' }));
  await bindRoute(worker, 'f::any', '/items/:id');
  const config = { api_path: '/items/kept', http_method: 'GET' };
  const { error } = await worker.call('engine::register_trigger', {
    trigger_type: 'http',
    function_id: 'f::kept',
    config,
  });
  expect(error).toBeUndefined();
  await worker.settled();
  const answers = await onManyConnections(() => askJson(engine, '/items/kept'));
  expect(answers.map(({ body }) => body)).toEqual(answers.map(() => 'kept'));
});

test('[RO8] [RO13] a trigger shows when it fired last at once, whichever router served the request', async () => {
  await using engine = await startHttpEngine('', { threads: 2 });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('f::timed', () => ({ body: 1 }));
  await bindRoute(worker, 'f::timed', '/timed');
  // Enough that each router serves one.
  for (let nth = 0; nth < 8; nth++) {
    const beforeMs = Date.now();
    await ask(engine, '/timed');
    const { result } = await worker.call('engine::registered-triggers::info', { id: 'f::timed' });
    expect(Date.parse(Object(result).last_fired_at)).toBeGreaterThanOrEqual(beforeMs);
  }
});

test('[RO12] a reload of the HTTP module takes effect on every router, or on none', async () => {
  using folder = new TemporaryFolder();
  const configFile = join(folder.path, 'svc-config.yaml');
  const yaml = (http: string) =>
    'drain_timeout_ms: 100\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n' +
    `  - {name: svc-http, config: {port: 0, ${http}}}\n`;
  await writeFile(configFile, yaml('request_id_header: x-one'));
  await using started = await startTestEngine({ configFile, threads: 2 });
  const engine = withHttp(started);
  const namesOf = async () => {
    const answers = await onManyConnections(() => ask(engine, '/healthz'));
    return new Set(answers.flatMap(({ headers }) => Object.keys(headers).filter((name) => name.startsWith('x-'))));
  };
  expect(await namesOf()).toEqual(new Set(['x-one']));
  await writeFile(configFile, yaml('request_id_header: x-two'));
  expect(await started.reload()).toMatchObject({ ok: true });
  expect(await namesOf()).toEqual(new Set(['x-two']));
  await writeFile(configFile, yaml('request_id_header: x-three, ignore_trailing_slash: true'));
  expect(await started.reload()).toMatchObject({ ok: false });
  expect(await namesOf()).toEqual(new Set(['x-two']));
});

test('[RO12] an HTTP module that is removed listens on no router any more', async () => {
  using folder = new TemporaryFolder();
  const configFile = join(folder.path, 'svc-config.yaml');
  const workers = 'drain_timeout_ms: 100\nworkers:\n  - {name: svc-worker-manager, config: {port: 0}}\n';
  await writeFile(configFile, `${workers}  - {name: svc-http, config: {port: 0}}\n`);
  await using started = await startTestEngine({ configFile, threads: 2 });
  const { httpPort } = withHttp(started);
  await writeFile(configFile, workers);
  expect(await started.reload()).toMatchObject({ ok: true });
  await waitFor('nothing listens', async () => (await listenersOn(httpPort)) === 0 || undefined);
  const server = createServer().listen(httpPort, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  await new Promise((resolve) => server.close(resolve));
});

function withHttp({ urls }: { readonly urls: readonly string[] }): Pick<HttpEngine, 'httpPort'> {
  const url = urls.find((one) => one.startsWith('http:'));
  if (url === undefined) throw new Error('The engine has no HTTP port');
  return { httpPort: Number(new URL(url).port) };
}
