// What runs: a connection to the engine, and the functions on it. The engine says where it is in SVC_URL.

import { registerWorker } from 'svc-sdk';
import { register } from './functions.ts';

const svc = registerWorker(process.env.SVC_URL, { worker_name: 'mail' });
register(svc, async (to, text, receipt) => {
  // Send the mail here. This placeholder fails every third time.
  if (Math.random() < 1 / 3) throw new Error('The mail server does not answer');
  svc.logger.info('Sent a mail', { to, text, receipt });
});
await svc.ready();
console.log('mail is ready');
