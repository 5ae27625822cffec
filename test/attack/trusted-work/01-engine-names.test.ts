// Ids that the engine or its configuration uses: a restricted connection can neither register them nor be called by
// them.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { connectPage } from '../restricted-page.ts';

const PORTS = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: [], allow_trigger_types: [http]}}}
`;
const RESTRICTED =
  '{name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: [], allow_trigger_types: [http]}}}';

test.each(['', 'compat: iii\n'])(
  'A restricted connection cannot register functions of modules that are not loaded (%j)',
  async (top) => {
    await using engine = await startTestEngine({ yaml: top + PORTS });
    await using thief = await connectPage(engine);
    for (const id of ['svc::durable::publish', 'iii::durable::publish']) {
      await thief.register(id);
      expect(await thief.next('registrationrejected')).toMatchObject({ function_id: id });
    }
  },
);

test('A function of a restricted connection does not prevent a module from being added', async () => {
  using folder = new TemporaryFolder();
  const configFile = join(folder.path, 'svc-config.yaml');
  writeFileSync(configFile, PORTS);
  await using engine = await startTestEngine({ configFile });
  await using thief = await connectPage(engine);
  await thief.register('enqueue');
  const queues = '  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}\n';
  writeFileSync(configFile, PORTS + queues);
  expect(await engine.reload()).toMatchObject({ ok: true });
  expect(await thief.next('registrationrejected')).toMatchObject({ function_id: 'enqueue' });
  await using client = await RawWorker.connect(engine.url);
  expect(await client.call('enqueue', { topic: 'mail', data: 1 })).not.toHaveProperty('error');
});

test('The not_found_function of the configuration does not run on a restricted connection', async () => {
  await using engine = await startHttpEngine('not_found_function: site::missing', { workers: [RESTRICTED] });
  await using thief = await connectPage(engine);
  const asked: unknown[] = [];
  await thief.serve('site::missing', (data) => asked.push(data));
  expect((await ask(engine, '/nowhere', { headers: { authorization: 'Bearer secret' } })).status).toBeGreaterThan(499);
  expect(asked).toEqual([]);
});

test('A route with two spellings stays reserved when one of them is released, also after a restart', async () => {
  using folder = new TemporaryFolder();
  const state = `{name: svc-state, config: {adapter: {name: kv, config: {file_path: ${folder.path}}}}}`;
  const start = (http: string) => startHttpEngine(http, { workers: [RESTRICTED, state] });
  const bind = async (worker: RawWorker, api_path: string): Promise<void> => {
    const config = { api_path };
    worker.send({ type: 'registertrigger', id: api_path, trigger_type: 'http', function_id: 'own', config });
    await worker.settled();
  };
  {
    await using engine = await start('');
    for (const path of ['/orders/:id', '/orders/:order', '/mail/']) {
      await using shop = await RawWorker.connect(engine.url);
      await bind(shop, path);
    }
  }
  await using engine = await start('ignore_trailing_slash: true');
  await using client = await RawWorker.connect(engine.url);
  const name = { kind: 'route', name: 'GET /orders/:id' };
  expect(await client.call('engine::reservations::release', name)).not.toHaveProperty('error');
  await using thief = await connectPage(engine);
  const asked: unknown[] = [];
  await thief.serve('own', (data) => asked.push(data));
  for (const path of ['/orders/:any', '/mail']) await bind(thief, path);
  for (const path of ['/orders/42', '/mail/', '/mail']) await ask(engine, path);
  expect(asked).toEqual([]);
});

test('A function that is registered right before the engine ends is reserved after its restart', async () => {
  using folder = new TemporaryFolder();
  const state = `  - {name: svc-state, config: {adapter: {name: kv, config: {file_path: ${folder.path}}}}}\n`;
  {
    await using engine = await startTestEngine({ yaml: PORTS + state });
    await using worker = await RawWorker.connect(engine.url);
    for (let at = 0; at < 600; at++) worker.send({ type: 'registerfunction', id: `orders::${at}` });
    await worker.settled();
  }
  await using engine = await startTestEngine({ yaml: PORTS + state });
  await using client = await RawWorker.connect(engine.url);
  expect(await client.call('engine::reservations::list', { search: 'orders::' })).toMatchObject({
    result: { total: 600 },
  });
});

test('A chain of reattached connections keeps no more trigger ids than one connection may have', async () => {
  const limits = 'limits: {browser: {triggers_per_worker: 2}}\n';
  await using engine = await startTestEngine({ yaml: limits + PORTS });
  await using client = await RawWorker.connect(engine.url);
  const bind = async (worker: RawWorker, id: string): Promise<void> => {
    const config = { api_path: `/${id}` };
    worker.send({ type: 'registertrigger', id, trigger_type: 'http', function_id: 'own', config });
    await worker.settled();
  };
  const chain = [await connectPage(engine)];
  for (let hop = 0; hop < 3; hop++) {
    const last = chain.at(-1) as RawWorker;
    await last.register('own');
    for (const nth of [0, 1]) await bind(last, `id-${hop}-${nth}`);
    const next = await connectPage(engine);
    next.send({ type: 'reattach', previous_worker_id: last.workerId, reattach_token: last.reattachToken });
    await next.settled();
    chain.push(next);
  }
  await using other = await connectPage(engine);
  await other.register('own');
  for (const id of ['id-0-0', 'id-2-0']) await bind(other, id);
  const { result } = await client.call('engine::registered-triggers::list', { trigger_type: 'http' });
  expect(Reflect.get(Object(result), 'registered_triggers')).toMatchObject([{ id: 'id-0-0' }]);
  await Promise.all(chain.map((one) => one[Symbol.asyncDispose]()));
});
