import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { registerWorker } from 'svc-sdk';
import { startEngine } from 'svc-sdk/testing';
import { register as registerShop } from '../workers/shop/functions.ts';
import { register as registerWarehouse } from '../workers/warehouse/functions.ts';

// A real engine of this test's own, in memory and on free ports.
const engine = await startEngine({
  queues: { mail: { max_retries: 1, backoff_ms: 10 }, parcels: { type: 'fifo', message_group_field: 'customer' } },
});
const connect = (name: string) => registerWorker(engine.url, { worker_name: name, handle_signals: false });
const [shop, warehouse] = [connect('shop'), connect('warehouse')];
registerShop(shop);
registerWarehouse(warehouse);
await Promise.all([shop.ready(), warehouse.ready()]);
// The engine handles the messages of one connection in order, so this call waits for the registrations of the
// warehouse.
await warehouse.trigger({ function_id: 'warehouse::locate', payload: { sku: 'a' } });
after(async () => {
  await Promise.all([shop.shutdown(), warehouse.shutdown()]);
  await engine.stop();
});

const order = (sku: string, customer: string) =>
  fetch(`${engine.http_url}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sku, customer }),
  });

test('an order passes through both workers', async () => {
  const response = await order('apple', 'ann');
  assert.equal(response.status, 201);
  assert.deepEqual(await response.json(), { sku: 'apple', shelf: 7 });
});

test('a failure in the warehouse fails the order', async () => {
  assert.equal((await order('broken', 'dee')).status, 500);
});

test('a mail to an unknown customer becomes a dead letter', async () => {
  await order('door', 'unknown');
  for (;;) {
    const [letter] = await shop.queue('mail').dlq.list();
    if (letter?.error.includes('no such customer')) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});
