// A worker on the machine of an engine. Argument: the address of the engine.

import { registerWorker } from '../../../src/sdk/index.ts';

const worker = registerWorker(process.argv[2] ?? '', { worker_name: 'there' });
const ran: unknown[] = [];
worker.registerFunction('shared::where', () => 'there');
worker.registerFunction('shared::job', async (job: unknown) => {
  ran.push(job);
  await new Promise((resolve) => setTimeout(resolve, 300));
});
await worker.registerFunction('there::ran', () => ran).ready();
process.stdout.write('ready\n');
