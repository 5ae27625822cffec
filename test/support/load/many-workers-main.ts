// Many workers with the SDK of the engine in a separate process. Arguments: address, how many, and the number of the
// first. Each registers `restart::<number>`, which answers with its number. It prints `ready` when all are ready.

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
