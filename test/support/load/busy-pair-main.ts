// Two workers that call each other all the time, in a process of their own: what their answers take says nothing of who
// else is busy in the test. Argument: the address. Between `begin` and `end` it calls; then it tells of that.

import { Latencies } from '../../../src/cli/commands/bench/load.ts';
import { HealthyPair } from './healthy-pair.ts';

const WARMUP_CALLS = 500;

const pair = await HealthyPair.start(process.argv[2] ?? '');
// What the first calls bring into memory stays, here and in the engine.
for (let call = 0; call < WARMUP_CALLS; call++) await pair.callUntil(Promise.resolve());
let end = (): void => {};
process.on('message', async (word) => {
  if (word === 'end') return end();
  const latencies = new Latencies();
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const calls = await pair.callUntil(ended, (ms) => latencies.record(ms));
  process.send?.({ calls, p99Ms: latencies.summary().p99_ms });
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
