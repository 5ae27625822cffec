// A queue serves trusted workers and pages. A page must not take capacity, concurrency or the head of a group from
// trusted jobs: the jobs of pages run in their own lane.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { enqueue } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage } from '../restricted-page.ts';

test('A job of a page does not block a group of trusted jobs', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const ran: unknown[] = [];
  await client.serve('orders::bill', (data) => ran.push(data));
  const inOrders = { queue: 'orders' };
  // One job has no worker for its function, and one waits for a year.
  expect(await enqueue(page, 'api::absent', { id: 1 }, inOrders)).not.toHaveProperty('error');
  const late = { ...inOrders, delay_ms: 365 * 86_400_000 };
  expect(await enqueue(page, 'api::absent', { id: 2 }, late)).not.toHaveProperty('error');
  for (const id of [1, 2]) await enqueue(client, 'orders::bill', { id }, inOrders);
  await waitFor('both trusted jobs have run', () => ran.length === 2);
});

test('Jobs of a page do not use the concurrency of trusted jobs', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  await page.register('api::slow');
  const running = () => page.frames.filter(({ type }) => type === 'invokefunction').length;
  // `default` runs ten jobs at a time.
  for (let job = 0; job < 30; job++) await enqueue(page, 'api::slow', job);
  await waitFor('the lane of the page is busy', () => running() === 10);
  const ran: unknown[] = [];
  await client.serve('orders::bill', (data) => ran.push(data));
  await enqueue(client, 'orders::bill', 1);
  await waitFor('the trusted job has run', () => ran.length === 1);
});

test('A page that fills a queue is refused by the name of the queue, and trusted jobs are accepted', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const inSmall = { queue: 'small' };
  for (let job = 0; job < 3; job++) await enqueue(page, 'api::absent', job, inSmall);
  const { error } = await enqueue(page, 'api::absent', 3, inSmall);
  const message = "Queue 'small' is full: it holds 3 jobs, its limit";
  expect(error).toMatchObject({ code: 'enqueue_error', reason: 'QUEUE_FULL', message });
  expect(await enqueue(client, 'orders::bill', 1, inSmall)).not.toHaveProperty('error');
});

test('Jobs of a page are listed, counted, paused and found as jobs of their queue', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  await client.call('engine::queue::pause', { queue: 'default' });
  const { result } = await enqueue(page, 'api::x', 1);
  await enqueue(client, 'api::x', 2);
  const { result: listed } = await client.call('engine::queue::list', {});
  expect(Object(listed).filter(({ name }: { name: string }) => name.startsWith('default'))).toMatchObject([
    { name: 'default', kind: 'queue', waiting: 2, concurrency: 10 },
  ]);
  const { messageReceiptId } = Object(result);
  expect(await client.call('engine::queue::job', { messageReceiptId })).toMatchObject({ result: { queue: 'default' } });
  const jobs = await client.call('engine::queue::jobs', { queue: 'default' });
  expect(jobs).toMatchObject({ result: { items: [{ queue: 'default' }, { queue: 'default' }] } });
  const seen: unknown[] = [];
  await client.serve('api::x', (data) => seen.push(data));
  expect(seen).toEqual([]);
  await client.call('engine::queue::resume', { queue: 'default' });
  await waitFor('both jobs have run', () => seen.length === 2);
});

test('The lane of pages cannot be named as a queue', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  await enqueue(page, 'api::x', 1);
  for (const worker of [client, page]) {
    const { error } = await enqueue(worker, 'api::x', 1, { queue: 'default\trestricted' });
    expect(error).toMatchObject({ reason: 'QUEUE_NOT_FOUND' });
  }
});

test('Jobs of pages and trusted jobs share a queue that the port lists in shared_queues', async () => {
  await using engine = await startEngine(', shared_queues: [orders]');
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const ran: unknown[] = [];
  await client.serve('api::x', (data) => ran.push(data));
  await client.call('engine::queue::pause', { queue: 'orders' });
  for (const [at, worker] of [page, client, page, client].entries()) {
    await enqueue(worker, 'api::x', { id: 1, at }, { queue: 'orders' });
  }
  await client.call('engine::queue::resume', { queue: 'orders' });
  await waitFor('all jobs have run', () => ran.length === 4);
  // They are in one group, so they run in the order of their receipts.
  expect(ran).toEqual([0, 1, 2, 3].map((at) => ({ id: 1, at })));
});

test('A trigger of a page that fills a queue does not delay the trigger of a trusted worker', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const ran: unknown[] = [];
  await client.serve('orders::changed', (data) => ran.push(data));
  await page.register('x::absent');
  const bound = { type: 'registertrigger', trigger_type: 'state', config: { queue: 'small' } };
  page.send({ ...bound, id: 'mine', function_id: 'x::absent' });
  await page.settled();
  expect(page.frames.filter(({ type }) => type === 'triggerregistrationresult')).toEqual([]);
  client.send({ ...bound, id: 'real', function_id: 'orders::changed' });
  await client.settled();
  // The function is gone, so its jobs wait, and three fill the lane.
  page.send({ type: 'unregisterfunction', id: 'x::absent' });
  await page.settled();
  for (let change = 0; change < 10; change++) {
    await client.call('state::set', { scope: 'orders', key: 'k', value: change });
    await waitFor('the trusted trigger has fired', () => ran.length === change + 1);
  }
});

test('A tick of a trusted trigger does not run on a page with an equal trigger', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
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

test('A trigger of a page does not replace an equal trigger that a trusted worker registers later', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await using page = await connectPage(engine);
  const ran: unknown[] = [];
  const bound = { type: 'registertrigger', trigger_type: 'state', function_id: 'orders::changed', config: {} };
  await page.register('orders::changed');
  page.send({ ...bound, id: 'mine' });
  await page.settled();
  await client.serve('orders::changed', (data) => ran.push(data));
  client.send({ ...bound, id: 'real' });
  await client.settled();
  await client.call('state::set', { scope: 'orders', key: '1', value: 1 });
  await waitFor('the trusted worker is called', () => ran.length === 1);
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
      queue_configs: {orders: {type: fifo, message_group_field: id}, small: {max_jobs: 3}}
      adapter: {name: builtin, config: {store_method: in_memory}}
`,
  });
}
