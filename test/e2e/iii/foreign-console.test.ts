// The console of `iii` is a worker: it has functions below `engine::console::` and routes below `/_console/`.

import { expect, test } from 'vitest';
import {
  ask,
  askJson,
  type HttpEngine,
  type HttpEngineOptions,
  startHttpEngine,
} from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { onBothTransports } from '../both-transports.ts';

const STATUS = 'engine::console::status';
const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';

const start = (options: HttpEngineOptions = {}): Promise<HttpEngine> =>
  startHttpEngine('cors: {allowed_origins: ["http://shop.example"]}', { top: 'compat: iii', ...options });

async function routed(engine: HttpEngine, path: string, functionId = STATUS, method = 'GET'): Promise<RawWorker> {
  const worker = await RawWorker.connect(engine.url);
  await worker.serve(functionId, () => ({ status_code: 200, body: { from: 'the worker' } }));
  await bind(worker, path, functionId, method);
  return worker;
}

async function bind(worker: RawWorker, path: string, functionId = STATUS, method = 'GET'): Promise<void> {
  const config = { api_path: path, http_method: method };
  worker.send({ type: 'registertrigger', id: path, trigger_type: 'http', function_id: functionId, config });
  await worker.settled();
}

const refusalOf = async (worker: RawWorker): Promise<string> => {
  const { error } = await worker.next('triggerregistrationresult');
  return (error as { message: string }).message;
};

onBothTransports('a console of iii', () => {
  test('[T10] a trusted worker answers its routes below /_console/', async () => {
    await using engine = await start();
    await using worker = await routed(engine, '_console/status');
    await bind(worker, '_console/states/:group/item/:key', STATUS, 'DELETE');
    expect(await askJson(engine, '/_console/status')).toEqual({ status: 200, body: { from: 'the worker' } });
    const deleted = await askJson(engine, '/_console/states/a/item/b', { method: 'DELETE' });
    expect(deleted).toEqual({ status: 200, body: { from: 'the worker' } });
    expect(await askJson(engine, '/_console/other')).toMatchObject({ status: 404 });
  });

  test('[T10] [X3] pages of other origins and hosts do not reach them, however the path is written', async () => {
    await using engine = await start();
    await using _ = await routed(engine, '_console/status');
    for (const path of ['/_console/status', '/%5Fconsole/status', '/_%63onsole/status']) {
      expect(await ask(engine, path)).toMatchObject({ status: 200 });
      const origin = await ask(engine, path, { headers: { origin: 'http://shop.example' } });
      expect(origin.status).toBe(403);
      expect(origin.headers).not.toHaveProperty('access-control-allow-origin');
      expect(await ask(engine, path, { headers: { host: 'evil.example' } })).toMatchObject({ status: 403 });
      expect(await ask(engine, path, { headers: { 'sec-fetch-site': 'cross-site' } })).toMatchObject({ status: 403 });
    }
  });

  test('[T10] [X4] they need the token, and JSON', async () => {
    const bridgeToken = 'a-token-of-more-than-32-characters-123';
    await using engine = await start({ top: `compat: iii\nbridge_token: ${bridgeToken}` });
    const authorization = `Bearer ${bridgeToken}`;
    await using worker = await RawWorker.connect(engine.url, { headers: { authorization } });
    await worker.serve(STATUS, () => ({ status_code: 200, body: {} }));
    await bind(worker, '_console/otel/traces', STATUS, 'POST');
    const given = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect(await ask(engine, '/_console/otel/traces', given)).toMatchObject({ status: 401 });
    const headers = { ...given.headers, authorization };
    expect(await ask(engine, '/_console/otel/traces', { ...given, headers })).toMatchObject({ status: 200 });
    const plain = { ...headers, 'content-type': 'text/plain' };
    expect(await ask(engine, '/_console/otel/traces', { ...given, headers: plain })).toMatchObject({ status: 415 });
  });

  test('[T10] a route with a parameter for its first part takes no request of the console', async () => {
    await using engine = await start();
    await using _ = await routed(engine, ':name/status', 'shop::status');
    expect(await ask(engine, '/orders/status')).toMatchObject({ status: 200 });
    expect(await ask(engine, '/_console/status')).toMatchObject({ status: 404 });
    expect(await ask(engine, '/%5Fconsole/status')).toMatchObject({ status: 404 });
  });
});

test('[T10] /_console/v1/ belongs to the engine', async () => {
  await using engine = await start();
  await using worker = await routed(engine, '_console/v1/status');
  expect(await refusalOf(worker)).toContain('/_console/v1/ belongs to the engine');
  await bind(worker, '_console/%761/status');
  expect(await refusalOf(worker)).toContain('/_console/v1/ belongs to the engine');
  await bind(worker, '_console/:part/functions');
  const own = await askJson(engine, '/_console/v1/functions');
  expect(own.body).toHaveProperty('items');
  expect(await askJson(engine, '/%5Fconsole/%761/functions')).toEqual(own);
});

test('[T10] a trigger for /_console/invoke is accepted and displaced', async () => {
  await using engine = await start();
  await using worker = await routed(engine, '_console/invoke', 'engine::console::invoke', 'POST');
  await worker.serve('shop::echo', (input) => input);
  const { result } = await worker.call('engine::registered-triggers::list', { include_internal: true });
  const { registered_triggers: rows } = result as { registered_triggers: object[] };
  expect(rows).toMatchObject([{ id: '_console/invoke', status: 'Inactive' }]);
  const body = JSON.stringify({ function_id: 'shop::echo', payload: { n: 1 } });
  const headers = { 'content-type': 'application/json' };
  const answer = await askJson(engine, '/_console/invoke', { method: 'POST', body, headers });
  expect(answer).toEqual({ status: 200, body: { n: 1 } });
});

test('[T10] functions of the engine keep their names', async () => {
  await using engine = await start();
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('engine::functions::list');
  await worker.register('engine::other::status');
  await worker.register(STATUS);
  const refused = [await worker.next('registrationrejected'), await worker.next('registrationrejected')];
  expect(refused.map(({ function_id: id }) => id)).toEqual(['engine::functions::list', 'engine::other::status']);
  await worker.serve(STATUS, () => 'mine');
  await using caller = await RawWorker.connect(engine.url);
  expect(await caller.call(STATUS)).toMatchObject({ result: 'mine' });
});

test('[T10] without drop-in mode neither is accepted', async () => {
  await using engine = await start({ top: '' });
  await using worker = await routed(engine, '_console/status');
  expect(await worker.next('registrationrejected')).toMatchObject({ function_id: STATUS });
  expect(await refusalOf(worker)).toContain('/_console/ belongs to the engine');
});

test('[T10] [X9] restricted connections may register neither', async () => {
  const rbac = '{expose_functions: [\'match("engine::console::*")\'], allow_trigger_types: [http]}';
  await using engine = await start({
    workers: [
      `{name: svc-worker-manager, config: {port: 0, rbac: ${rbac}}}`,
      `{name: svc-state, config: {${IN_MEMORY}}}`,
    ],
  });
  await using page = await RawWorker.connect(engine.urls.filter((url) => url.startsWith('ws:')).at(-1) ?? '');
  page.send({ type: 'registerfunction', id: STATUS });
  page.send({ type: 'registerfunction', id: 'mine' });
  const config = { api_path: '_console/status', http_method: 'GET' };
  page.send({ type: 'registertrigger', id: 'a', trigger_type: 'http', function_id: 'mine', config });
  expect(await page.next('registrationrejected')).toMatchObject({ function_id: STATUS });
  expect(await page.next('triggerregistrationresult')).toMatchObject({ id: 'a', error: { code: expect.any(String) } });
  expect(await ask(engine, '/_console/status')).toMatchObject({ status: 404 });
});
