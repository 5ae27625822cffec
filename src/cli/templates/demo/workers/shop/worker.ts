// What runs: a connection to the engine, and the functions on it. The engine says where it is in SVC_URL.

import { registerWorker } from 'svc-sdk';
import { registerCustomers } from './customers.ts';
import { register } from './functions.ts';

const svc = registerWorker(process.env.SVC_URL, { worker_name: 'shop' });
register(svc);
registerCustomers(svc, process.env.SVC_HTTP_URL ?? 'http://127.0.0.1:3111');
await svc.ready();
console.log('shop is ready');
