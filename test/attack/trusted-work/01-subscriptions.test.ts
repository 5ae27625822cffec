// The messages of a topic lie in its queues, for example in a Redis. An engine without a store on disk must know after
// a restart that a subscription is trusted, and restricted connections must not change how its messages are delivered.

import { expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage } from '../restricted-page.ts';

test('A message for an absent trusted subscriber in Redis goes to no restricted connection after a restart', async () => {
  const keyPrefix = newKeyPrefix();
  const adapter = `{name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${keyPrefix}'}}`;
  {
    await using engine = await startEngine(adapter);
    await using client = await RawWorker.connect(engine.url);
    const owner = await RawWorker.connect(engine.url);
    expect(await subscribe(owner)).toBeUndefined();
    owner.socket.terminate();
    await client.call('svc::durable::publish', { topic: 'mail', data: 'secret' });
  }
  await using engine = await startEngine(adapter);
  await using thief = await connectPage(engine);
  const stolen: unknown[] = [];
  await thief.serve('orders::mail', (data) => stolen.push(data));
  expect(await subscribe(thief)).toHaveProperty('error');
  await using back = await RawWorker.connect(engine.url);
  const ran: unknown[] = [];
  await back.serve('orders::mail', (data) => ran.push(data));
  await subscribe(back);
  await waitFor('the message has run', () => ran.length === 1);
  expect(stolen).toEqual([]);
  await removeKeys(keyPrefix);
});

test('A page that subscribed the same function first does not delay messages of a trusted subscriber', async () => {
  await using engine = await startEngine('{name: builtin, config: {store_method: in_memory}}');
  await using client = await RawWorker.connect(engine.url);
  await using thief = await connectPage(engine);
  await thief.register('orders::mail');
  expect(await subscribe(thief, { queue_config: { delaySeconds: 86_400, maxRetries: 0 } })).toBeUndefined();
  const ran: unknown[] = [];
  await client.serve('orders::mail', (data) => ran.push(data));
  expect(await subscribe(client)).toBeUndefined();
  await client.call('svc::durable::publish', { topic: 'mail', data: 'now' });
  await waitFor('the message has run', () => ran.length === 1);
});

test('A message for a trusted subscriber that drained goes to that subscriber and not in its place to a page', async () => {
  await using engine = await startEngine('{name: builtin, config: {store_method: in_memory}}');
  await using client = await RawWorker.connect(engine.url);
  await using thief = await connectPage(engine);
  const [ran, stolen]: [unknown[], unknown[]] = [[], []];
  {
    await using owner = await RawWorker.connect(engine.url);
    await owner.register('orders::mail');
    await subscribe(owner);
    // The SDK sends these frames on SIGTERM.
    owner.send({ type: 'draining' });
    owner.send({ type: 'unregistertrigger', id: `mail of ${owner.workerId}`, trigger_type: 'durable:subscriber' });
    await owner.settled();
  }
  await thief.serve('x::mail', (data) => stolen.push(data));
  expect(await subscribe(thief, {}, 'x::mail')).toBeUndefined();
  await client.call('svc::durable::publish', { topic: 'mail', data: 'meanwhile' });
  await client.serve('orders::mail', (data) => ran.push(data));
  await subscribe(client);
  // Each subscription gets its own copy.
  await waitFor('the message has run for both', () => ran.length === 1 && stolen.length === 1);
  expect(stolen).toEqual(['meanwhile']);
});

test('A message without a subscriber is kept for a trusted subscriber', async () => {
  await using engine = await startEngine('{name: builtin, config: {store_method: in_memory}}');
  await using client = await RawWorker.connect(engine.url);
  await using thief = await connectPage(engine);
  const [ran, stolen]: [unknown[], unknown[]] = [[], []];
  await client.call('svc::durable::publish', { topic: 'mail', data: 'early' });
  await thief.serve('x::mail', (data) => stolen.push(data));
  await subscribe(thief, {}, 'x::mail');
  await client.serve('orders::mail', (data) => ran.push(data));
  await subscribe(client);
  await waitFor('the message has run', () => ran.length === 1);
  expect(stolen).toEqual([]);
});

/** The refusal, if there is one. */
async function subscribe(
  worker: RawWorker,
  more: object = {},
  functionId = 'orders::mail',
): Promise<Frame | undefined> {
  const id = `mail of ${worker.workerId}`;
  const config = { topic: 'mail', ...more };
  worker.send({
    ...{ type: 'registertrigger', id, trigger_type: 'durable:subscriber' },
    ...{ function_id: functionId, config },
  });
  await worker.settled();
  return worker.frames.find((frame) => frame.type === 'triggerregistrationresult');
}

function startEngine(adapter: string): Promise<TestEngine> {
  return startTestEngine({
    yaml: `drain_timeout_ms: 300
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: [], allow_trigger_types: ['durable:subscriber']}}}
  - {name: svc-queue, config: {adapter: ${adapter}}}
`,
  });
}
