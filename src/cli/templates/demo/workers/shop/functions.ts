// The first worker: takes orders over HTTP, asks the warehouse for them, and enqueues the next steps.

import { Fatal, type HttpReply, type HttpRequest, http, type SvcWorker } from 'svc-sdk';

export interface Order {
  readonly sku: string;
  readonly customer: string;
}

export function register(svc: SvcWorker): void {
  const order = svc.registerFunction(
    { id: 'shop::order', description: 'Takes an order' },
    async ({ body }: HttpRequest<Order>, { logger }): Promise<HttpReply> => {
      const { sku, customer } = body;
      logger.debug('Order received', { sku, customer });
      const { shelf } = await svc.trigger<{ sku: string }, { shelf: number }>({
        function_id: 'warehouse::reserve',
        payload: { sku },
      });
      await svc.stream('orders').group('open').set(customer, { sku, shelf });
      await svc.queue('mail').enqueue('mail::send', { to: customer });
      await svc.queue('parcels').enqueue('shop::pack', { customer, sku });
      return { status_code: 201, body: { sku, shelf } };
    },
  );

  svc.registerFunction(
    { id: 'mail::send', description: 'Sends a mail to a customer; sometimes fails' },
    async ({ to }: { to: string }, { attempt, logger }) => {
      if (to === 'unknown') throw new Fatal('There is no such customer');
      if (to === 'bob' && attempt === 1) {
        logger.warn('The mail server is busy', { to });
        throw new Error('The mail server is busy');
      }
      logger.trace('Sent', { to });
    },
  );

  svc.registerFunction(
    { id: 'shop::pack', description: 'Packs a parcel; one customer after the other' },
    async ({ customer }: Order) => {
      await svc.stream('orders').group('open').delete(customer);
      await svc.emit('parcel.packed', { customer });
    },
  );

  const celebrate = svc.registerFunction(
    { id: 'shop::count_parcel', description: 'Called for every parcel' },
    ({ customer }: { customer: string }, { logger }) => logger.info('A parcel is packed', { customer }),
  );

  svc.registerTrigger({ ...http('POST', '/orders'), function_id: order });
  svc.registerTrigger({ type: 'event', function_id: celebrate, config: { topic: 'parcel.packed' } });
}
