// A worker of our SDK that serves a route, as a program that ends itself on SIGTERM. Arguments: address, path and name. It
// says `ready` once it is asked for the route, and answers with its name; `?ms=` makes it take its time.

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
