// The worker part of queues: a handler that does nothing, on one connection or on several.

import { registerWorker } from 'svc-sdk';
import { answerReady } from './part.ts';

const [url, connections = '1'] = process.argv.slice(2);
const workers = Array.from({ length: Number(connections) }, () => registerWorker(url, { worker_name: 'handler' }));
const registered = workers.map((worker) => worker.registerFunction('bench::nothing', () => null));
answerReady(async () => {
  await Promise.all(registered.map((one) => one.ready()));
  return {};
});
