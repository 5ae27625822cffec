// The worker part of queues: a handler that does nothing.

import { registerWorker } from 'svc-sdk';
import { answerReady } from './part.ts';

const svc = registerWorker(process.argv[2], { worker_name: 'handler' });
svc.registerFunction('bench::nothing', () => null);
answerReady(async () => {
  await svc.ready();
  return {};
});
