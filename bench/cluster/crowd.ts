// A worker with many functions of one kind, which all answer with their payload. One connection may have 5 000.
// Arguments: how many, the number of the first, the address.

import { registerWorker } from 'svc-sdk';
import { answerReady } from '../support/part.ts';

const [count = '0', first = '0', url = ''] = process.argv.slice(2);
const svc = registerWorker(url, { worker_name: 'crowd' });
await svc.ready();
process.on('message', (message: { ask?: string }) => {
  if (message.ask !== 'register') return;
  for (let index = 0; index < Number(count); index++) {
    svc.registerFunction(`crowd::function-${Number(first) + index}`, (payload: unknown) => payload);
  }
  process.send?.({});
});
answerReady(async () => ({}));
