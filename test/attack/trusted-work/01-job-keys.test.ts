// An idempotency key is chosen by the client and can often be guessed, for example the number of an order. A restricted
// connection must not occupy the key of a trusted job, because that job would never be enqueued.

import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { newKeyPrefix, removeKeys } from '../../support/stores/ext-store.ts';
import { enqueue, receiptOf } from '../../support/stores/queue-engine.ts';
import { SHARED_REDIS } from '../../support/stores/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage } from '../restricted-page.ts';

const REDIS_PREFIX = newKeyPrefix();

describe.each([
  ['in memory', '{name: builtin, config: {store_method: in_memory}}'],
  ['in Redis', `{name: extstore, config: {extstore_url: '${SHARED_REDIS}', key_prefix: '${REDIS_PREFIX}'}}`],
])('the key of a trusted job %s', (_place, adapter) => {
  test('is not occupied by the job of a page with the same key, and returns another receipt', async () => {
    await using engine = await startEngine(adapter);
    await using client = await RawWorker.connect(engine.url);
    await using page = await connectPage(engine);
    const ran: unknown[] = [];
    for (const id of ['api::x', 'orders::bill']) await client.serve(id, (data) => ran.push(data));
    const forged = await receiptOf(enqueue(page, 'api::x', 'forged', { idempotency_key: 'order-1' }));
    const real = await receiptOf(enqueue(client, 'orders::bill', 'real', { idempotency_key: 'order-1' }));
    expect(real).not.toBe(forged);
    // Each gets its own receipt again.
    expect(await receiptOf(enqueue(page, 'api::x', 'forged', { idempotency_key: 'order-1' }))).toBe(forged);
    expect(await receiptOf(enqueue(client, 'orders::bill', 'real', { idempotency_key: 'order-1' }))).toBe(real);
    await waitFor('both jobs have run', () => ran.length === 2);
    expect(ran.sort()).toEqual(['forged', 'real']);
    if (adapter.includes(REDIS_PREFIX)) await removeKeys(REDIS_PREFIX);
  });
});

test('Users of one port with different prefixes have separate keys', async () => {
  await using engine = await startEngine(
    '{name: builtin, config: {store_method: in_memory}}',
    ', auth_function_id: auth',
  );
  await using client = await RawWorker.connect(engine.url);
  await client.serve('auth', (input) => ({
    function_registration_prefix: Reflect.get(Object(input), 'query_params').token[0],
  }));
  await client.call('engine::queue::pause', { queue: 'default' });
  const receipts: string[] = [];
  for (const token of ['user-1', 'user-2', 'user-1']) {
    await using page = await connectPage(engine, { path: `/?token=${token}` });
    receipts.push(await receiptOf(enqueue(page, 'api::x', token, { idempotency_key: 'k' })));
  }
  expect(receipts[1]).not.toBe(receipts[0]);
  expect(receipts[2]).toBe(receipts[0]);
});

function startEngine(adapter: string, rbac = ''): Promise<TestEngine> {
  return startTestEngine({
    yaml: `drain_timeout_ms: 300
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {expose_functions: ['match("api::*")']${rbac}}}}
  - {name: svc-queue, config: {queue_configs: {default: {}}, adapter: ${adapter}}}
`,
  });
}
