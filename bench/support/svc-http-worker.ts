// The worker of the engine's HTTP port. `routes` is the number of routes in addition to the measured one.

import { http, registerWorker } from 'svc-sdk';
import { answerReady, HELLO } from './part.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const [url = '', routes = '1'] = process.argv.slice(2);
const svc = registerWorker(url, { worker_name: 'hello' });
const hello = svc.registerFunction('api::hello', () => ({ status_code: 200, body: HELLO, headers: JSON_TYPE }));
// The limit of a connection is 5 000 triggers.
const others = Math.ceil((Number(routes) - 1) / 4_000);
for (let worker = 0; worker < others; worker++) {
  const crowd = registerWorker(url, { worker_name: `crowd-${worker}` });
  const left = Math.min(4_000, Number(routes) - 1 - worker * 4_000);
  for (let route = 0; route < left; route++) {
    const path = route % 2 === 0 ? `/crowd-${worker}/${route}/:id` : `/users/${worker}-${route}/orders/:order`;
    crowd.registerTrigger({ ...http('GET', path), function_id: 'api::hello' });
  }
  await crowd.ready();
}
const bound = svc.registerTrigger({ ...http('GET', '/hello'), function_id: hello });
answerReady(async () => {
  await bound.ready();
  return {};
});
