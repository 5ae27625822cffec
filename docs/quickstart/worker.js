// A worker: it connects to the engine and offers two functions. Start it with `node docs/quickstart/worker.js`.

import { registerWorker } from 'svc-sdk';

const svc = registerWorker(process.env.SVC_URL, { worker_name: 'greeter' });

svc.registerFunction({ id: 'greet::hello', description: 'Greets by name' }, ({ name = 'world' } = {}) => ({
  text: `Hello, ${name}!`,
}));

// Functions call each other through the engine, wherever they run.
svc.registerFunction({ id: 'greet::everyone', description: 'Greets a list of names' }, async ({ names = [] } = {}) =>
  Promise.all(names.map((name) => svc.trigger({ function_id: 'greet::hello', payload: { name } }))),
);

await svc.ready();
process.send?.('ready');
