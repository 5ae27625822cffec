// Jobs of a trusted trigger whose connection has left. Another connection may register a trigger under the same id
// meanwhile: the jobs must neither run with the rights of that connection nor call its functions.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { deadLettersOf, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage, leave } from '../restricted-page.ts';

test('A job runs with the rights of its own trigger although a page has a trigger of the same id', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await client.call('engine::queue::pause', { queue: 'default' });
  const owner = await RawWorker.connect(engine.url);
  await bind(owner, 'state', 'orders::changed', { scope: 'orders', queue: 'default' });
  await client.call('state::set', { scope: 'orders', key: 'a', value: 'secret' });
  await waitFor('the job waits', async () => (await statsOf(client)).depth === 1);
  await leave(owner);
  await using thief = await connectPage(engine);
  await thief.register('own');
  await bind(thief, 'state', 'own', { scope: 'elsewhere' });
  const ran: unknown[] = [];
  await client.serve('orders::changed', (data) => ran.push(data));
  await client.call('engine::queue::resume', { queue: 'default' });
  await waitFor('the job has ended', async () => ran.length + (await deadLettersOf(client)).length === 1);
  expect(ran).toHaveLength(1);
});

test('The condition of a trusted job does not run on a page that registers it', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  await client.call('engine::queue::pause', { queue: 'default' });
  const owner = await RawWorker.connect(engine.url);
  const condition = { condition_function_id: 'orders::isLarge' };
  await bind(owner, 'state', 'orders::changed', { scope: 'orders', queue: 'default', ...condition });
  await client.call('state::set', { scope: 'orders', key: 'a', value: 'secret' });
  await waitFor('the job waits', async () => (await statsOf(client)).depth === 1);
  await leave(owner);
  await using thief = await connectPage(engine);
  const asked: unknown[] = [];
  await thief.serve('orders::isLarge', (data) => asked.push(data));
  await bind(thief, 'state', 'orders::isLarge', { scope: 'elsewhere' });
  await client.serve('orders::changed', () => null);
  await client.call('engine::queue::resume', { queue: 'default' });
  await waitFor('the job has failed', async () => (await deadLettersOf(client)).length === 1);
  expect(asked).toEqual([]);
});

test('A message of a topic runs with the rights of its own trigger although a page has a trigger of the same id', async () => {
  await using engine = await startEngine();
  await using client = await RawWorker.connect(engine.url);
  const owner = await RawWorker.connect(engine.url);
  await bind(owner, 'durable:subscriber', 'orders::mail', { topic: 'mail', queue_config: { maxRetries: 0 } });
  await leave(owner);
  await client.call('svc::durable::publish', { topic: 'mail', data: 'secret' });
  await using thief = await connectPage(engine);
  await thief.register('own');
  await bind(thief, 'state', 'own', { scope: 'elsewhere' });
  const ran: unknown[] = [];
  await client.serve('orders::mail', (data) => ran.push(data));
  await waitFor('the message has ended', async () => ran.length + (await deadLettersOf(client, 'mail')).length === 1);
  expect(ran).toEqual(['secret']);
});

async function bind(worker: RawWorker, trigger_type: string, function_id: string, config: object): Promise<void> {
  worker.send({ type: 'registertrigger', id: 't-1', trigger_type, function_id, config });
  await worker.settled();
  expect(worker.frames).toEqual([]);
}

function startEngine(): Promise<TestEngine> {
  const memory = 'config: {store_method: in_memory}';
  return startTestEngine({
    yaml: `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: [], allow_trigger_types: [state]}}}
  - {name: svc-queue, config: {queue_configs: {default: {max_retries: 0}}, adapter: {name: builtin, ${memory}}}}
  - {name: svc-state, config: {adapter: {name: kv, ${memory}}}}
`,
  });
}
