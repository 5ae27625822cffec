// The caller part with svc-sdk.

import { registerWorker } from 'svc-sdk';
import { answerReady, answerRuns } from './part.ts';

const wire = process.argv.includes('json') ? 'json' : 'binary';
const svc = registerWorker(process.argv.at(-1), { worker_name: 'caller', wire });
answerReady(async () => {
  await svc.ready();
  // The responder may not be registered yet: the load starts when it answers.
  await svc.trigger({ function_id: 'bench::echo', payload: {}, retry: { attempts: 20, backoff_ms: 20 } });
  return {};
});
answerRuns((payload, done) => {
  svc.trigger({ function_id: 'bench::echo', payload }).then(done, (error: unknown) => {
    throw error;
  });
});
