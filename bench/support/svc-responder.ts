// The responder part with svc-sdk: answers with its payload.

import { registerWorker } from 'svc-sdk';
import { answerReady } from './part.ts';

const wire = process.argv.includes('json') ? 'json' : 'binary';
const svc = registerWorker(process.argv.at(-1), { worker_name: 'responder', wire });
svc.registerFunction('bench::echo', (payload: unknown) => payload);
answerReady(async () => {
  await svc.ready();
  return {};
});
