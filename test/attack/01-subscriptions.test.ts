// What a topic keeps for a trusted subscriber lies where its queues lie, which may be a Redis. An engine that keeps
// nothing on disk must know after a restart whose it is, and strangers say nothing about how it is delivered.

import { expect, test } from 'vitest';
import { type Frame, RawWorker } from '../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../support/engine/test-engine.ts';
import { newKeyPrefix, removeKeys } from '../support/stores/ext-store.ts';
import { SHARED_REDIS } from '../support/stores/redis-server.ts';
import { waitFor } from '../support/wait-for.ts';

test('a message for a trusted subscriber that is away goes to no stranger after a restart on Redis alone', async () => {
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
  await using thief = await RawWorker.connect(String(engine.urls[1]));
  const stolen: unknown[] = [];
  await thief.serve('orders::mail', (data) => stolen.push(data));
  expect(await subscribe(thief)).toHaveProperty('error');
  await using back = await RawWorker.connect(engine.url);
  const ran: unknown[] = [];
  await back.serve('orders::mail', (data) => ran.push(data));
  await subscribe(back);
  await waitFor('it ran', () => ran.length === 1);
  expect(stolen).toEqual([]);
  await removeKeys(keyPrefix);
});

test('a stranger who subscribed the same function first does not delay it for a trusted subscriber', async () => {
  await using engine = await startEngine('{name: builtin, config: {store_method: in_memory}}');
  await using client = await RawWorker.connect(engine.url);
  await using thief = await RawWorker.connect(String(engine.urls[1]));
  await thief.register('orders::mail');
  expect(await subscribe(thief, { queue_config: { delaySeconds: 86_400, maxRetries: 0 } })).toBeUndefined();
  const ran: unknown[] = [];
  await client.serve('orders::mail', (data) => ran.push(data));
  expect(await subscribe(client)).toBeUndefined();
  await client.call('svc::durable::publish', { topic: 'mail', data: 'now' });
  await waitFor('it ran', () => ran.length === 1);
});

test('a message for a trusted subscriber that restarts with a goodbye goes to no stranger', async () => {
  await using engine = await startEngine('{name: builtin, config: {store_method: in_memory}}');
  await using client = await RawWorker.connect(engine.url);
  await using thief = await RawWorker.connect(String(engine.urls[1]));
  const [ran, stolen]: [unknown[], unknown[]] = [[], []];
  {
    await using owner = await RawWorker.connect(engine.url);
    await owner.register('orders::mail');
    await subscribe(owner);
    // As the SDK says it on SIGTERM.
    owner.send({ type: 'draining' });
    owner.send({ type: 'unregistertrigger', id: `mail of ${owner.workerId}`, trigger_type: 'durable:subscriber' });
    await owner.settled();
  }
  await thief.serve('x::mail', (data) => stolen.push(data));
  expect(await subscribe(thief, {}, 'x::mail')).toBeUndefined();
  await client.call('svc::durable::publish', { topic: 'mail', data: 'meanwhile' });
  await client.serve('orders::mail', (data) => ran.push(data));
  await subscribe(client);
  await waitFor('it ran', () => ran.length === 1);
  // A copy for each, as while both are there.
  expect(stolen).toEqual(['meanwhile']);
});

test('what was published before anybody subscribed is kept for a trusted subscriber', async () => {
  await using engine = await startEngine('{name: builtin, config: {store_method: in_memory}}');
  await using client = await RawWorker.connect(engine.url);
  await using thief = await RawWorker.connect(String(engine.urls[1]));
  const [ran, stolen]: [unknown[], unknown[]] = [[], []];
  await client.call('svc::durable::publish', { topic: 'mail', data: 'early' });
  await thief.serve('x::mail', (data) => stolen.push(data));
  await subscribe(thief, {}, 'x::mail');
  await client.serve('orders::mail', (data) => ran.push(data));
  await subscribe(client);
  await waitFor('it ran', () => ran.length === 1);
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
