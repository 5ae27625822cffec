// Queues are shared: whoever may put jobs into one takes its room, its slots and the places of its groups. A stranger who
// may call one function must not thereby hold up what trusted workers keep in a queue of their own.

import { expect, test } from 'vitest';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { enqueue } from '../support/stores/queue-engine.ts';
import { waitFor } from '../support/wait-for.ts';

const NOT_ALLOWED = { error: { code: 'FORBIDDEN', message: "queue 'orders' not allowed (add to rbac.allow_queues)" } };

test('a stranger puts no job at the head of a group of a queue that is not for strangers', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await RawWorker.connect(String(engine.urls[1]));
  const ran: unknown[] = [];
  await client.serve('orders::bill', (data) => ran.push(data));
  const inOrders = { queue: 'orders' };
  // Of a function that nobody offers, and one that waits for a year.
  expect(await enqueue(page, 'api::nobody', { id: 1 }, inOrders)).toMatchObject(NOT_ALLOWED);
  const late = { ...inOrders, delay_ms: 365 * 86_400_000 };
  expect(await enqueue(page, 'api::nobody', { id: 2 }, late)).toMatchObject(NOT_ALLOWED);
  for (const id of [1, 2]) await enqueue(client, 'orders::bill', { id }, inOrders);
  await waitFor('both ran', () => ran.length === 2);
  // Nor does it learn which queues there are.
  const unknown = await enqueue(page, 'api::nobody', {}, { queue: 'no such queue' });
  expect(unknown.error).toMatchObject({ code: 'FORBIDDEN' });
  expect(await enqueue(page, 'api::nobody', {})).not.toHaveProperty('error');
});

test('a trigger of a stranger makes no jobs of such a queue', async () => {
  await using engine = await startEngine();
  await using page = await RawWorker.connect(String(engine.urls[1]));
  await page.register('x::slow');
  const config = { expression: '* * * * * *', queue: 'orders' };
  page.send({ type: 'registertrigger', id: 'slow', trigger_type: 'cron', function_id: 'x::slow', config });
  expect(await page.next('triggerregistrationresult')).toMatchObject(NOT_ALLOWED);
});

test('queues that the port names are open', async () => {
  await using engine = await startEngine(', allow_queues: [orders]');
  await using page = await RawWorker.connect(String(engine.urls[1]));
  expect(await enqueue(page, 'api::x', { id: 1 }, { queue: 'orders' })).not.toHaveProperty('error');
  expect((await enqueue(page, 'api::x', {})).error).toMatchObject({ code: 'FORBIDDEN' });
});

test('a tick of a trusted trigger is no job of a stranger with an equal trigger', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await RawWorker.connect(String(engine.urls[1]));
  const stolen: unknown[] = [];
  await page.serve('x::tick', (data) => stolen.push(data));
  const config = { expression: '* * * * * *', queue: 'default' };
  const bound = { trigger_type: 'cron', function_id: 'x::tick', config };
  await client.call('engine::queue::pause', { queue: 'default' });
  page.send({ type: 'registertrigger', id: 'mine', ...bound });
  await page.settled();
  expect(await client.call('engine::register_trigger', bound)).not.toHaveProperty('error');
  await client.call('engine::queue::purge', { queue: 'default' });
  await client.call('engine::queue::resume', { queue: 'default' });
  const parked = async () => JSON.stringify(await client.call('engine::queue::jobs', { queue: 'default' }));
  await waitFor('a tick waits for a trusted worker', async () => (await parked()).includes('waiting_for_worker'));
  expect(stolen.length).toBeLessThan(2);
});

test('a trigger of a stranger silences no equal one of a trusted worker that comes later', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await RawWorker.connect(String(engine.urls[1]));
  const ran: unknown[] = [];
  const bound = { type: 'registertrigger', trigger_type: 'state', function_id: 'orders::changed', config: {} };
  await page.register('orders::changed');
  page.send({ ...bound, id: 'mine' });
  await page.settled();
  await client.serve('orders::changed', (data) => ran.push(data));
  client.send({ ...bound, id: 'real' });
  await client.settled();
  await client.call('state::set', { scope: 'orders', key: '1', value: 1 });
  await waitFor('the trusted worker is told', () => ran.length === 1);
});

function startEngine(rbac = ''): Promise<TestEngine> {
  return startTestEngine({
    yaml: `drain_timeout_ms: 300
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("api::*")'], allow_trigger_types: [cron, state]${rbac}}}}
  - {name: svc-cron, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
  - name: svc-queue
    config:
      queue_configs: {orders: {type: fifo, message_group_field: id}}
      adapter: {name: builtin, config: {store_method: in_memory}}
`,
  });
}
