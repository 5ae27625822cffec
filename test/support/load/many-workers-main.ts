// Many workers of our SDK in one process of their own. Arguments: address, how many, and the number of the first. Each
// registers one function, `restart::<number>`, that answers with its number. It says `ready` when all of them are.

import { registerWorker } from '../../../src/sdk/index.ts';

const [url = '', count = '0', first = '0'] = process.argv.slice(2);

const numbers = Array.from({ length: Number(count) }, (_, index) => Number(first) + index);
await Promise.all(
  numbers.map((number) => {
    const svc = registerWorker(url, { worker_name: `worker-${number}`, handle_signals: false, log: () => {} });
    return svc.registerFunction(`restart::${number}`, () => number).ready();
  }),
);
process.stdout.write('ready\n');
