// The second worker of the demo: makes charges, some of which are refused, and sends mails, some of which always fail.

import { registerWorker } from '../../../../src/sdk/index.ts';

const [url = ''] = process.argv.slice(2);
const svc = registerWorker(url, { worker_name: 'billing', description: 'Charges and sends mails', log: () => {} });

const REFUSED_EVERY = 9;
let charges = 0;

const functions = [
  svc.registerFunction(
    { id: 'billing::charge', description: 'Charges a customer' },
    async ({ amount }: { amount: number }) => {
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 30));
      if (++charges % REFUSED_EVERY === 0) throw new Error('Card refused: the issuer does not answer');
      return { charged: amount * 19 };
    },
  ),
  svc.registerFunction('billing::refund', ({ id }: { id?: string }) => ({ refunded: id ?? null })),
  svc.registerFunction('mail::send', async ({ to }: { to: string }) => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (to.startsWith('vase-')) throw new Error(`Mailbox ${to} does not exist`);
    return { sent: to };
  }),
];
await Promise.all(functions.map((one) => one.ready()));
process.stdout.write('ready\n');
