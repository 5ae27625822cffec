// What runs: a connection to the engine, and the functions on it. The engine says where it is in SVC_URL.

import { registerWorker } from 'svc-sdk';
import { register } from './functions.ts';

const svc = registerWorker(process.env.SVC_URL, { worker_name: 'report' });
register(svc);
await svc.ready();
console.log('report is ready');
