// Many workers in one process, each with a connection and a function of its own, that call each other at random.
// Arguments: how many, the address.

import { registerWorker } from 'svc-sdk';
import { answerReady, answerRuns } from './part.ts';

const [count = '16', url = ''] = process.argv.slice(2);
const workers = Array.from({ length: Number(count) }, (_, at) => registerWorker(url, { worker_name: `crowd-${at}` }));
for (const [at, worker] of workers.entries()) {
  await worker.registerFunction(`crowd::${at}`, (payload: unknown) => payload).ready();
}
answerReady(async () => ({}));
answerRuns((payload, done) => {
  const [from, to] = [Math.floor(Math.random() * workers.length), Math.floor(Math.random() * workers.length)];
  workers[from]?.trigger({ function_id: `crowd::${to}`, payload }).then(done);
});
