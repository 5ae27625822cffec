// The third worker of the demo: a trigger of every kind, logs of every level, and deliberate errors. Arguments: address
// of the engine's bridge, `busy` to generate traffic, and the address of the engine's HTTP port for it.

import { type HandlerContext, registerWorker } from '../../../../src/sdk/index.ts';

const [url = '', manner = '', httpUrl = ''] = process.argv.slice(2);
const svc = registerWorker(url, { worker_name: 'office', description: 'Reports, mails and audits', log: () => {} });

interface HttpRequest {
  readonly path_params?: { readonly id?: string };
  readonly body?: { readonly sku: string; readonly email: string };
}

svc.registerFunction('api::order', async ({ body }: HttpRequest, { logger }: HandlerContext) => {
  logger.info('order received', { sku: body?.sku ?? '?' });
  try {
    return { status_code: 201, body: await svc.trigger({ function_id: 'orders::create', payload: body }) };
  } catch (error) {
    logger.error(`order failed: ${error instanceof Error ? error.message : String(error)}`, { sku: body?.sku ?? '?' });
    throw error;
  }
});
svc.registerFunction('api::order_by_id', ({ path_params: params }: HttpRequest, { logger }: HandlerContext) => {
  logger.debug('looked up', { id: params?.id ?? '?' });
  return params?.id?.startsWith('x')
    ? { status_code: 404, body: { error: 'no such order' } }
    : { status_code: 200, body: { id: params?.id, state: 'packed' } };
});
svc.registerFunction('api::latest_order', () => ({ status_code: 200, body: { id: 'o-00001' } }));
svc.registerFunction('reports::heartbeat', (_tick: unknown, { logger }: HandlerContext) => {
  logger.trace('tick');
  return null;
});
svc.registerFunction('reports::weekly', () => {
  throw new Error('The printer is out of paper');
});
svc.registerFunction('audit::is_large', ({ new_value: order }: { new_value?: { quantity?: number } }) => {
  return (order?.quantity ?? 0) > 2;
});
svc.registerFunction('audit::order', (_change: unknown, { logger }: HandlerContext) => {
  logger.warn('a large order');
  return null;
});
svc.registerFunction('audit::stream', () => null);
svc.registerFunction('audit::newsletter', () => null);
svc.registerFunction('audit::joined', () => null);
svc.registerFunction('ops::page', () => null);

const triggers = [
  { type: 'http', function_id: 'api::order', config: { api_path: '/api/orders', http_method: 'POST' } },
  { type: 'http', function_id: 'api::order_by_id', config: { api_path: '/api/orders/:id' } },
  { type: 'http', function_id: 'api::latest_order', config: { api_path: '/api/orders/latest' } },
  { type: 'http', function_id: 'api::cancel', config: { api_path: '/api/orders/:id', http_method: 'DELETE' } },
  { type: 'cron', function_id: 'reports::heartbeat', config: { expression: '*/2 * * * * *' } },
  { type: 'cron', function_id: 'reports::weekly', config: { expression: '0 30 6 * * 1', timezone: 'Europe/Berlin' } },
  { type: 'event', function_id: 'audit::newsletter', config: { topic: 'user.*' } },
  { type: 'durable:subscriber', function_id: 'audit::newsletter', config: { topic: 'newsletter' } },
  {
    type: 'state',
    function_id: 'audit::order',
    config: { scope: 'orders', condition_function_id: 'audit::is_large' },
  },
  { type: 'stream', function_id: 'audit::stream', config: { stream_name: 'orders', group_id: 'new' } },
  { type: 'stream:join', function_id: 'audit::joined', config: { stream_name: 'orders' } },
  { type: 'log', function_id: 'ops::page', config: { level: 'error' } },
];
await Promise.all(triggers.map((trigger) => svc.registerTrigger(trigger).ready()));
process.stdout.write('ready\n');

if (manner === 'busy') setInterval(() => makeTraffic().catch(() => {}), 250);

let round = 0;

/** Some of it fails on purpose. */
async function makeTraffic(): Promise<void> {
  round++;
  const sku = ['lamp', 'chair', 'desk', 'vase'][round % 4] ?? 'lamp';
  const order = { sku, quantity: 1 + (round % 3), email: `${sku}-${round}@example.org` };
  const name = `user-${round}`;
  await Promise.allSettled([
    fetch(`${httpUrl}/api/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(order),
    }),
    fetch(`${httpUrl}/api/orders/${round % 7 === 0 ? 'x1' : `o-${round}`}`),
    fetch(`${httpUrl}/api/orders/latest`),
    svc.trigger({ function_id: 'publish', payload: { topic: 'user.created', data: { name } } }),
    svc.trigger({ function_id: 'svc::durable::publish', payload: { topic: 'newsletter', data: { name } } }),
    svc.trigger({
      function_id: 'stream::set',
      payload: { stream_name: 'chat', group_id: `room-${round % 5}`, item_id: name, data: { text: `Hello ${sku}` } },
    }),
    svc.trigger({ function_id: 'state::set', payload: { scope: 'users', key: name, value: { name, visits: round } } }),
  ]);
}
