// A worker: it connects to the engine and offers three functions, one of them over HTTP. Start it with `node docs/quickstart/worker.js`.

import { http, registerWorker } from 'svc-sdk';

const svc = registerWorker(process.env.SVC_URL, { worker_name: 'greeter' });

svc.registerFunction({ id: 'greet::hello', description: 'Greets by name' }, ({ name = 'world' } = {}) => ({
  text: `Hello, ${name}!`,
}));

// Functions call each other through the engine, wherever they run.
svc.registerFunction({ id: 'greet::everyone', description: 'Greets a list of names' }, async ({ names = [] } = {}) =>
  Promise.all(names.map((name) => svc.trigger({ function_id: 'greet::hello', payload: { name } }))),
);

// The same greeting for browsers and curl: http://127.0.0.1:3111/hello/Ada
svc.registerFunction({ id: 'greet::page', description: 'Greets over HTTP' }, async ({ path_params }) => ({
  body: await svc.trigger({ function_id: 'greet::hello', payload: path_params }),
}));
svc.registerTrigger({ ...http('GET', '/hello/:name'), function_id: 'greet::page' });

await svc.ready();
process.send?.('ready');
