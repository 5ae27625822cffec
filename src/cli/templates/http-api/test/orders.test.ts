import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { registerWorker } from 'svc-sdk';
import { startEngine } from 'svc-sdk/testing';
import { register } from '../workers/orders/functions.ts';

// A real engine of this test's own, in memory and on free ports.
const engine = await startEngine();
const svc = registerWorker(engine.url, { handle_signals: false, stream_url: engine.stream_url });
register(svc);
await svc.ready();
after(async () => {
  await svc.shutdown();
  await engine.stop();
});

const post = (body: unknown) =>
  fetch(`${engine.http_url}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test('creates, shows and deletes an order', async () => {
  const made = await post({ sku: 'a1', quantity: 2 });
  assert.equal(made.status, 201);
  const order = `${engine.http_url}${made.headers.get('location')}`;
  const { sku, quantity } = (await (await fetch(order)).json()) as { sku: string; quantity: number };
  assert.deepEqual({ sku, quantity }, { sku: 'a1', quantity: 2 });
  assert.equal((await fetch(order, { method: 'DELETE' })).status, 204);
  assert.equal((await fetch(order)).status, 404);
});

test('refuses an invalid order with the reason', async () => {
  const refused = await post({ quantity: 2 });
  assert.equal(refused.status, 400);
  const { error } = (await refused.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, 'BAD_REQUEST');
  assert.match(error.message, /sku/);
});
