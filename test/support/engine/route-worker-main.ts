// A worker with the SDK of the engine that serves a route and ends on SIGTERM. Arguments: address, path and name. It
// prints `ready` when its route is bound, and answers with its name, after `?ms=` milliseconds.

import { type HttpRequest, http, registerWorker } from '../../../src/sdk/index.ts';

const [url = '', path = '', name = ''] = process.argv.slice(2);

const svc = registerWorker(url, { worker_name: name, log: () => {} });
const show = svc.registerFunction('route::show', async ({ query_params }: HttpRequest) => {
  process.stdout.write('called\n');
  const takesMs = Number(query_params.ms ?? 0);
  if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
  return { body: name };
});
await svc.registerTrigger({ ...http('GET', path), function_id: show }).ready();
process.stdout.write('ready\n');
