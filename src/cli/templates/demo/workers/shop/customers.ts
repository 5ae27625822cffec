// Customers that order all the time: mostly existing items, sometimes a broken one, or for an unknown customer.

import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as requestSecurely } from 'node:https';
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
    return { status: await post(`${shopUrl}/orders`, ORDERS[turn++ % ORDERS.length]) };
  });
  svc.registerTrigger({ ...cron('* * * * * *'), function_id: visit });
}

/** Returns the status. `fetch` cannot be given the engine's authority, for an HTTP port with TLS. */
function post(url: string, body: unknown): Promise<number | undefined> {
  const options = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const file = process.env.SVC_CA_FILE;
  const sent = url.startsWith('https:')
    ? requestSecurely(url, { ...options, ...(file && { ca: readFileSync(file) }) })
    : request(url, options);
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    sent.end(JSON.stringify(body));
  });
}
