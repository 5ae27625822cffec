// `npm run bench:micro`: nanoseconds per step, median and 99th percentile. The printed sum of all results prevents the
// compiler from removing the steps.

import { Bench } from 'tinybench';
import { steps } from './suites.ts';

const bench = new Bench({ time: 500, warmupTime: 200 });
let sum = 0;
for (const step of steps()) {
  bench.add(step.name, () => {
    sum += step.run();
  });
}
await bench.run();

process.stdout.write('| step | median ns | p99 ns |\n|---|---|---|\n');
for (const { name, result } of bench.tasks) {
  if (!('latency' in result)) throw new Error(`${name} did not finish: ${JSON.stringify(result)}`);
  const { p50, p99 } = result.latency;
  process.stdout.write(`| ${name} | ${(p50 * 1e6).toFixed(0)} | ${(p99 * 1e6).toFixed(0)} |\n`);
}
process.stdout.write(`\nsum of results: ${sum}\n`);
