// Routes of workers that connect, leave and displace each other.

import { expect, test } from 'vitest';
import { ask, askJson, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

test('[H1] A route whose worker was lost is answered 503 for 10 s, then 404', async () => {
  const clock = new TurningClock();
  await using engine = await startHttpEngine('', { clock });
  const other = await RawWorker.connect(engine.url);
  await bind(other, 'a', 'any::get', '/a');
  other.socket.terminate();
  await waitFor('the route is away', async () => (await ask(engine, '/a')).text.includes('is away'));
  expect(await ask(engine, '/a')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  clock.advance(9_000);
  expect((await ask(engine, '/a')).status).toBe(503);
  clock.advance(1_500);
  expect(await askJson(engine, '/a')).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
});

test('[H1] A new registration takes the route over, and keeps it when the old connection ends', async () => {
  await using engine = await startHttpEngine();
  await using old = await RawWorker.connect(engine.url);
  await using young = await RawWorker.connect(engine.url);
  await old.serve('old::get', () => ({ body: 'old' }));
  await bind(old, 'o', 'old::get', '/a');
  await young.serve('young::get', () => ({ body: 'young' }));
  await bind(young, 'y', 'young::get', '/a');
  expect(await askJson(engine, '/a')).toEqual({ status: 200, body: 'young' });
  expect(await statuses(young)).toEqual({ o: 'Inactive', y: 'Active' });
  old.socket.terminate();
  await waitFor('the old worker is gone', async () => !('o' in (await statuses(young))));
  expect(await askJson(engine, '/a')).toEqual({ status: 200, body: 'young' });
});

test('[H1] A displaced route is active again when the newer one is removed', async () => {
  await using engine = await startHttpEngine();
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('one::get', () => ({ body: 1 }));
  await worker.serve('two::get', () => ({ body: 2 }));
  await bind(worker, '1', 'one::get', '/a');
  await bind(worker, '2', 'two::get', '/a');
  expect(await askJson(engine, '/a')).toEqual({ status: 200, body: 2 });
  worker.send({ type: 'unregistertrigger', id: '2' });
  await worker.settled();
  expect(await askJson(engine, '/a')).toEqual({ status: 200, body: 1 });
  expect(await statuses(worker)).toEqual({ '1': 'Active' });
});

test('[PD-26] Replicas share a route until the last of them leaves', async () => {
  await using engine = await startHttpEngine();
  await using first = await RawWorker.connect(engine.url);
  await using second = await RawWorker.connect(engine.url);
  for (const [worker, id] of [
    [first, '1'],
    [second, '2'],
  ] as const) {
    await worker.serve('any::get', () => ({ body: 'ok' }));
    await bind(worker, id, 'any::get', '/a');
  }
  expect(await statuses(first)).toEqual({ '1': 'Active', '2': 'Active' });
  second.socket.terminate();
  await waitFor('the second is gone', async () => !('2' in (await statuses(first))));
  expect(await askJson(engine, '/a')).toEqual({ status: 200, body: 'ok' });
});

test('[H2] A route that differs only in its parameter names is refused by an error that names both', async () => {
  await using engine = await startHttpEngine();
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('any::get', () => ({ body: 'ok' }));
  await bind(worker, '1', 'any::get', '/users/:id/x');
  const refused = await refusal(worker, '2', { api_path: '/users/:name/x' });
  expect(refused).toMatch(/\/users\/:name\/x .*\/users\/:id\/x.*any::get/);
  await bind(worker, '3', 'any::get', '/users/:name/x', 'POST');
  expect(await askJson(engine, '/users/1/x')).toEqual({ status: 200, body: 'ok' });
  expect(await statuses(worker)).toEqual({ '1': 'Active', '2': 'Error', '3': 'Active' });
});

test('[H2] An invalid route is refused with the reason', async () => {
  await using engine = await startHttpEngine();
  await using worker = await RawWorker.connect(engine.url);
  const cases: [unknown, RegExp][] = [
    [{}, /^api_path is required for http triggers$/],
    [null, /^api_path is required/],
    [{ api_path: 7 }, /api_path/],
    [{ api_path: '/a', http_method: 'BREW' }, /one of GET, POST.*'BREW'/],
    [{ api_path: '/a', metod: 'GET' }, /metod/],
    [{ api_path: '/a/*' }, /'\*' in the segment/],
    [{ api_path: '/a-:b' }, /':' in the segment/],
    [{ api_path: '/{id}' }, /'\{'/],
    [{ api_path: '/:' }, /parameter/],
    [{ api_path: '/:a/:a' }, /two parameters with the name :a/],
    [{ api_path: '/a//b' }, /empty segment/],
    [{ api_path: '/%zz' }, /malformed escape/],
    [{ api_path: '/_console/x' }, /reserved/],
    [{ api_path: '/%5fconsole/x' }, /reserved/],
    [{ api_path: '/a', condition_function_id: 7 }, /condition_function_id/],
  ];
  for (const [config, words] of cases) {
    expect(await refusal(worker, 't', config), JSON.stringify(config)).toMatch(words);
  }
});

async function bind(worker: RawWorker, id: string, functionId: string, path: string, method = 'GET'): Promise<void> {
  const config = { api_path: path, http_method: method };
  worker.send({ type: 'registertrigger', id, trigger_type: 'http', function_id: functionId, config });
  await worker.settled();
}

async function refusal(worker: RawWorker, id: string, config: unknown): Promise<string> {
  worker.send({ type: 'registertrigger', id, trigger_type: 'http', function_id: 'any::get', config });
  const { error } = await worker.next('triggerregistrationresult');
  return String(Reflect.get(Object(error), 'message'));
}

async function statuses(worker: RawWorker): Promise<Record<string, string>> {
  const { result } = await worker.call('engine::registered-triggers::list', { trigger_type: 'http' });
  const rows: unknown = Reflect.get(Object(result), 'registered_triggers');
  return Object.fromEntries((Array.isArray(rows) ? rows : []).map(({ id, status }) => [id, status]));
}
