// The server part: an engine of a cluster, as `svc start` runs it. Arguments: the address of NATS, the
// prefix, the number of router threads.

import { startBenchEngine, UNOBSERVED } from '../support/bench-engine.ts';
import { answerReady } from '../support/part.ts';

const [nats = '', prefix = '', threads = '1'] = process.argv.slice(2);
const cluster = `cluster: {nats: {servers: ['nats://${nats}']}, prefix: ${prefix}}`;
const ports = `workers: [{name: svc-worker-manager, config: {port: 0}}, ${UNOBSERVED}]`;
const engine = await startBenchEngine(`${cluster}\n${ports}`, Number(threads));
process.on('message', (message: { ask?: string }) => {
  if (message.ask !== 'heap') return;
  // Only there with --expose-gc.
  globalThis.gc?.();
  process.send?.({ mib: process.memoryUsage().heapUsed / 2 ** 20 });
});
answerReady(async () => ({ url: engine.listeners[0]?.address }));
