// Customers that order all the time: mostly existing items, sometimes a broken one, or for an unknown customer.

import { cron, type SvcWorker } from 'svc-sdk';
import type { Order } from './functions.ts';

const ORDERS: readonly Order[] = [
  { sku: 'apple', customer: 'ann' },
  { sku: 'book', customer: 'bob' },
  { sku: 'candle', customer: 'cem' },
  { sku: 'broken', customer: 'dee' },
  { sku: 'door', customer: 'unknown' },
];

export function registerCustomers(svc: SvcWorker, shopUrl: string): void {
  let turn = 0;
  const visit = svc.registerFunction({ id: 'customers::visit', description: 'Sends one order over HTTP' }, async () => {
    const response = await fetch(`${shopUrl}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(ORDERS[turn++ % ORDERS.length]),
    });
    return { status: response.status };
  });
  svc.registerTrigger({ ...cron('* * * * * *'), function_id: visit });
}
