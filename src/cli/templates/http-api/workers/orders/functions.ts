// Creates, lists, shows and deletes orders over HTTP. They are kept in the state, in the scope `orders`.

import { randomUUID } from 'node:crypto';
import { type HttpReply, type HttpRequest, http, type SvcWorker } from 'svc-sdk';
import { CREATE, DELETE, LIST, type NewOrder, type Order, SHOW } from './schemas.ts';

const SCOPE = 'orders';

export function register(svc: SvcWorker): void {
  svc.registerFunction(
    'orders::create',
    { description: 'Creates an order', trigger: http('POST', '/orders'), ...CREATE },
    async ({ body: { sku, quantity = 1 } }: HttpRequest<NewOrder>, { logger }): Promise<HttpReply> => {
      const order: Order = { id: randomUUID(), sku, quantity };
      await svc.state.set(SCOPE, order.id, order);
      logger.info('Order created', { id: order.id, sku });
      return { status_code: 201, headers: { location: `/orders/${order.id}` }, body: order };
    },
  );

  svc.registerFunction(
    'orders::list',
    { description: 'All orders', trigger: http('GET', '/orders'), ...LIST },
    async (): Promise<HttpReply> => {
      const orders: Order[] = [];
      for await (const { value } of svc.state.list<Order>(SCOPE)) orders.push(value);
      return { status_code: 200, body: orders };
    },
  );

  svc.registerFunction(
    'orders::show',
    { description: 'One order', trigger: http('GET', '/orders/:id'), ...SHOW },
    async ({ path_params: { id = '' } }: HttpRequest): Promise<HttpReply> => {
      const order = await svc.state.get<Order>(SCOPE, id);
      return order == null ? NOT_FOUND : { status_code: 200, body: order };
    },
  );

  svc.registerFunction(
    'orders::delete',
    { description: 'Deletes an order', trigger: http('DELETE', '/orders/:id'), ...DELETE },
    async ({ path_params: { id = '' } }: HttpRequest): Promise<HttpReply> => {
      if ((await svc.state.get(SCOPE, id)) == null) return NOT_FOUND;
      await svc.state.delete(SCOPE, id);
      return { status_code: 204, body: null };
    },
  );
}

const NOT_FOUND: HttpReply = {
  status_code: 404,
  body: { error: { code: 'NOT_FOUND', message: 'The order does not exist' } },
};
