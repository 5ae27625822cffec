// The functions of this worker, apart from the connection, so that a test can register them on an engine of its own.

import { type HttpRequest, http, type SvcWorker } from 'svc-sdk';

export function register(svc: SvcWorker): void {
  const hello = svc.registerFunction(
    { id: 'greet::hello', description: 'Greets by name' },
    ({ name = 'world' }: { name?: string }) => ({ text: `Hello, ${name}!` }),
  );

  // The same greeting for browsers and curl: http://127.0.0.1:3111/hello/Ada
  const page = svc.registerFunction(
    { id: 'greet::page', description: 'Greets over HTTP' },
    async ({ path_params }: HttpRequest) => ({ body: await hello.trigger({ name: path_params.name }) }),
  );
  svc.registerTrigger({ ...http('GET', '/hello/:name'), function_id: page });
}
