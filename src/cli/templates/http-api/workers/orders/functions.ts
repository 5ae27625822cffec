// Creates, lists, shows and deletes orders over HTTP. They are kept in the state, in the scope `orders`.

import { randomUUID } from 'node:crypto';
import { type HttpReply, type HttpRequest, http, type SvcWorker } from 'svc-sdk';

const SCOPE = 'orders';

export interface Order {
  readonly id: string;
  readonly sku: string;
  readonly quantity: number;
}

export function register(svc: SvcWorker): void {
  const create = svc.registerFunction(
    { id: 'orders::create', description: 'Creates an order' },
    async ({ body }: HttpRequest): Promise<HttpReply> => {
      const problem = problemOf(body);
      if (problem !== undefined) return { status_code: 400, body: { error: problem } };
      const { sku, quantity = 1 } = body as { sku: string; quantity?: number };
      const order: Order = { id: randomUUID(), sku, quantity };
      await svc.state.set(SCOPE, order.id, order);
      return { status_code: 201, headers: { location: `/orders/${order.id}` }, body: order };
    },
  );

  const list = svc.registerFunction({ id: 'orders::list', description: 'All orders' }, async () => {
    const orders: Order[] = [];
    for await (const { value } of svc.state.list<Order>(SCOPE)) orders.push(value);
    return { body: orders };
  });

  const show = svc.registerFunction(
    { id: 'orders::show', description: 'One order' },
    async ({ path_params }: HttpRequest): Promise<HttpReply> => {
      const order = await svc.state.get<Order>(SCOPE, path_params.id ?? '');
      return order == null ? NOT_FOUND : { status_code: 200, body: order };
    },
  );

  const remove = svc.registerFunction(
    { id: 'orders::delete', description: 'Deletes an order' },
    async ({ path_params }: HttpRequest): Promise<HttpReply> => {
      const id = path_params.id ?? '';
      if ((await svc.state.get(SCOPE, id)) == null) return NOT_FOUND;
      await svc.state.delete(SCOPE, id);
      return { status_code: 204, body: null };
    },
  );

  svc.registerTrigger({ ...http('POST', '/orders'), function_id: create });
  svc.registerTrigger({ ...http('GET', '/orders'), function_id: list });
  svc.registerTrigger({ ...http('GET', '/orders/:id'), function_id: show });
  svc.registerTrigger({ ...http('DELETE', '/orders/:id'), function_id: remove });
}

const NOT_FOUND: HttpReply = { status_code: 404, body: { error: 'The order does not exist.' } };

/** The problem of an order from a request, if any. */
export function problemOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return 'Send a JSON object.';
  const { sku, quantity } = body as { sku?: unknown; quantity?: unknown };
  if (typeof sku !== 'string' || sku === '') return "'sku' must be a text.";
  const isCount = quantity === undefined || (Number.isInteger(quantity) && Number(quantity) > 0);
  return isCount ? undefined : "'quantity' must be a whole number above 0.";
}
