// Two workers that call each other all the time, in a separate process, so that the time of their answers does not
// include the work of the test. Argument: the address. It calls between `begin` and `end`, then prints the times.

import { Latencies } from '../../../src/cli/commands/bench/load.ts';
import { HealthyPair } from './healthy-pair.ts';

const WARMUP_CALLS = 500;

const pair = await HealthyPair.start(process.argv[2] ?? '');
// The first calls load code and memory, here and in the engine.
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
