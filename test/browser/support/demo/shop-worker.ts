// A worker of the demo: a shop that takes orders over HTTP, keeps them in state, writes to streams, and enqueues mails.
// Arguments: address of the engine, and `busy` to generate traffic. Prints `ready` when all is registered.

import { Enqueue, registerWorker } from '../../../../src/sdk/index.ts';

const [url = '', manner = ''] = process.argv.slice(2);
const svc = registerWorker(url, { worker_name: 'shop', description: 'Takes orders', log: () => {} });

const Order = {
  type: 'object',
  properties: {
    sku: { type: 'string', description: 'What is ordered' },
    quantity: { type: 'integer', minimum: 1, maximum: 99, default: 1 },
    email: { type: 'string', format: 'email' },
    express: { type: 'boolean', default: false },
    delivery: {
      oneOf: [
        {
          properties: { to: { const: 'home' }, street: { type: 'string' } },
          type: 'object',
          required: ['to', 'street'],
        },
        { properties: { to: { const: 'shop' }, shop_id: { type: 'integer' } }, type: 'object', required: ['to'] },
      ],
    },
    notes: { type: 'array', items: { type: 'string' } },
  },
  required: ['sku', 'email'],
} as const;

interface OrderInput {
  readonly sku: string;
  readonly quantity?: number;
  readonly email: string;
}

let orders = 0;
const takeOrder = async (order: OrderInput): Promise<unknown> => {
  const id = `o-${String(++orders).padStart(5, '0')}`;
  const charged = await svc.trigger({ function_id: 'billing::charge', payload: { id, amount: order.quantity ?? 1 } });
  await svc.trigger({ function_id: 'state::set', payload: { scope: 'orders', key: id, value: { ...order, charged } } });
  await svc.trigger({
    function_id: 'stream::set',
    payload: { stream_name: 'orders', group_id: 'new', item_id: id, data: order },
  });
  await svc.trigger({
    function_id: 'mail::send',
    payload: { to: order.email, order: id },
    action: Enqueue({ queue: 'mail' }),
  });
  return { id, charged };
};

svc.registerFunction({ id: 'orders::create', description: 'Creates an order', input: Order }, takeOrder);
svc.registerFunction('orders::post', async ({ body }: { body: OrderInput }) => ({
  status_code: 201,
  body: await takeOrder(body),
}));
svc.registerFunction('orders::list', () => ({ status_code: 200, body: { orders } }));
svc.registerFunction('orders::echo', (payload: unknown) => payload);
svc.registerFunction('orders::changed', () => null);
svc.registerFunction('stock::check', ({ sku }: { sku?: string }) => ({ sku: sku ?? '?', left: 12 }));
svc.registerFunction('stock::nightly', () => ({ counted: 481 }));
svc.registerFunction('users::welcome', ({ name }: { name?: string }) => `Welcome, ${name ?? 'stranger'}`);

const triggers = [
  { type: 'http', function_id: 'orders::post', config: { api_path: '/orders', http_method: 'POST' } },
  { type: 'http', function_id: 'orders::list', config: { api_path: '/orders', http_method: 'GET' } },
  { type: 'cron', function_id: 'stock::nightly', config: { expression: '0 */5 * * * *' } },
  { type: 'event', function_id: 'users::welcome', config: { topic: 'user.created' } },
  { type: 'state', function_id: 'orders::changed', config: { scope: 'orders' } },
];
await Promise.all(triggers.map((trigger) => svc.registerTrigger(trigger).ready()));
process.stdout.write('ready\n');

const SKUS = ['lamp', 'chair', 'desk', 'vase'];
if (manner === 'busy') setInterval(makeTraffic, 120);

function makeTraffic(): void {
  const sku = SKUS[Math.floor(Math.random() * SKUS.length)] ?? 'lamp';
  const email = `${sku}-${Math.floor(Math.random() * 500)}@example.org`;
  for (const call of [
    svc.trigger({
      function_id: 'orders::create',
      payload: { sku, email, quantity: 1 + Math.floor(Math.random() * 3) },
    }),
    svc.trigger({ function_id: 'stock::check', payload: { sku } }),
  ]) {
    call.catch(() => {
      // Some fail on purpose: billing refuses a few charges.
    });
  }
}
