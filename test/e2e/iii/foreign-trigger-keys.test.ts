// Applications written for `iii` describe their triggers in the config: `description`, `metadata` and others.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const MODULES = [
  'workers:',
  '  - {name: svc-worker-manager, config: {port: 0}}',
  '  - {name: svc-http, config: {port: 0}}',
  '  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}',
  '  - {name: svc-stream, config: {port: 0, adapter: {name: kv, config: {store_method: in_memory}}}}',
  '  - {name: svc-cron, config: {adapter: {name: kv, config: {store_method: in_memory}}}}',
  '  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}',
  '  - {name: svc-pubsub}',
  '  - {name: svc-observability, config: {enabled: true, exporter: memory}}',
  '',
].join('\n');

const CONFIGS = {
  http: { api_path: '/orders', http_method: 'POST' },
  cron: { expression: '0 0 1 1 *' },
  state: { scope: 'orders' },
  stream: { stream_name: 'orders' },
  'stream:join': {},
  'durable:subscriber': { topic: 'orders' },
  subscribe: { topic: 'orders' },
  log: { level: 'error' },
} as const;

async function bind(worker: RawWorker, id: string, type: string, config: object): Promise<void> {
  worker.send({ type: 'registertrigger', id, trigger_type: type, function_id: 'shop::on', config });
  await worker.settled();
}

async function rowsOf(worker: RawWorker): Promise<Record<string, unknown>[]> {
  const { result } = await worker.call('engine::registered-triggers::list', { function_id: 'shop::on' });
  return (result as { registered_triggers: Record<string, unknown>[] }).registered_triggers;
}

const linesAbout = (engine: TestEngine, type: string) =>
  engine.log.filter((line) => line.includes('have no effect here') && line.includes(type));

test.each(Object.entries(CONFIGS))(
  '[T9] %s triggers may have keys that the engine does not know',
  async (type, config) => {
    await using engine = await startTestEngine({ yaml: `compat: iii\n${MODULES}` });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('shop::on');
    const described = { ...config, description: 'Takes an order', metadata: { team: 'shop' } };
    await bind(worker, 'one', type, described);
    expect(await rowsOf(worker)).toMatchObject([{ id: 'one', config: described, status: 'Active' }]);
    await bind(worker, 'two', type, { ...described, owner: 'ada' });
    expect(linesAbout(engine, type)).toHaveLength(1);
  },
);

test('[T9] they do not hide a wrong type or a missing key', async () => {
  await using engine = await startTestEngine({ yaml: `compat: iii\n${MODULES}` });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('shop::on');
  await bind(worker, 'bad', 'http', { description: 'No path' });
  await bind(worker, 'worse', 'cron', { expression: 7, description: 'No text' });
  const refused = [await worker.next('triggerregistrationresult'), await worker.next('triggerregistrationresult')];
  expect(refused.map(({ id, error }) => [id, (error as { message: string }).message])).toEqual([
    ['bad', expect.stringContaining('api_path is required')],
    ['worse', expect.stringContaining('expression')],
  ]);
});

test('[T9] triggers of two workers that differ only in such keys are replicas: one firing', async () => {
  await using engine = await startTestEngine({ yaml: `compat: iii\n${MODULES}` });
  await using one = await RawWorker.connect(engine.url);
  await using other = await RawWorker.connect(engine.url);
  let fired = 0;
  for (const [at, worker] of [one, other].entries()) {
    await worker.serve('shop::on', () => fired++);
    await bind(worker, `every-${at}`, 'cron', { expression: '* * * * * *', description: `Replica ${at}` });
    await bind(worker, `route-${at}`, 'http', { ...CONFIGS.http, description: `Replica ${at}` });
  }
  const rows = await rowsOf(one);
  expect(rows.map(({ id, status }) => [id, status])).toEqual(
    ['every-0', 'every-1', 'route-0', 'route-1'].map((id) => [id, 'Active']),
  );
  const { result } = await one.call('engine::health::check');
  expect(result).toHaveProperty('components.modules.svc-cron.details.triggers', 1);
  await waitFor('a tick ran', () => fired > 0);
});

test('[T9] without drop-in mode such keys are refused', async () => {
  await using engine = await startTestEngine({ yaml: MODULES });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('shop::on');
  await bind(worker, 'one', 'http', { ...CONFIGS.http, description: 'Takes an order' });
  const { error } = await worker.next('triggerregistrationresult');
  expect(error).toMatchObject({ message: expect.stringContaining('description') });
});

test('a refused trigger is not listed in drop-in mode, and a second route of the same shape is named', async () => {
  await using engine = await startTestEngine({ yaml: `compat: iii\n${MODULES}` });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('shop::on');
  await bind(worker, 'one', 'http', { api_path: '/orders/:id' });
  await bind(worker, 'two', 'http', { api_path: '/orders/:name' });
  const { error } = await worker.next('triggerregistrationresult');
  expect(error).toMatchObject({ message: expect.stringContaining('conflicts with already-registered route') });
  expect((await rowsOf(worker)).map(({ id }) => id)).toEqual(['one']);
});
