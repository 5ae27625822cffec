// What the hop to the store's thread costs the router's thread, against running the same update there: for batches of
// 1, 16 and 256 operations, and values of 100 B, 10 KiB and 1 MiB. Both work on a store in memory, so that no disk is
// part of it. `router` is the time in which the router's thread can do nothing else; `answer` is how long one waits.
//
//   npm run bench:store-hop

import { performance } from 'node:perf_hooks';
import { Counters } from '../src/core/registry/counters.ts';
import { systemClock } from '../src/effects/clock.ts';
import { systemRandom } from '../src/effects/random.ts';
import { createOwnThread } from '../src/effects/threads/pool.ts';
import { StoreRegistry } from '../src/store/directory/registry.ts';
import { MemoryKv } from '../src/store/kv/kv-memory.ts';
import { COMMANDS } from '../src/store/thread/commands.ts';
import { STORE_LIMITS } from '../src/store/thread/contract.ts';

const ROUNDS = Number(process.argv[2] ?? 15);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const registry = new StoreRegistry({
  clock: systemClock,
  random: systemRandom,
  logger: silent,
  counters: new Counters(),
  isDropIn: false,
  createWorker: () => createOwnThread('store'),
  onFailure: (reason) => {
    throw new Error(reason);
  },
});
const store = registry.open({ kind: 'memory' });
await registry.start();

const found = COMMANDS.find(({ name }) => name === 'state::update');
const setting = COMMANDS.find(({ name }) => name === 'state::set');
if (found === undefined || setting === undefined) throw new Error('There is no state::update');
const kv = new MemoryKv();
const clocks = { nowMs: 0, monotonicMs: 0, run: '' };
const world = { ...clocks, epoch: '', isDropIn: false, wantsEvents: false, limits: STORE_LIMITS };
const update = Buffer.from(
  JSON.stringify({ scope: 's', key: 'k', ops: [{ type: 'increment', path: 'count', by: 1 }] }),
);

process.stdout.write(
  '| operations | value | inline: router µs | thread: router µs | thread: answer µs | router spared |\n' +
    '|---|---|---|---|---|---|\n',
);
for (const [label, bytes] of [
  ['100 B', 100],
  ['10 KiB', 10_240],
  ['1 MiB', 1_048_576],
] as const) {
  const first = Buffer.from(
    JSON.stringify({ scope: 's', key: 'k', value: { count: 0, text: 'x'.repeat(Math.max(1, bytes - 30)) } }),
  );
  setting.run(kv, first, world);
  await new Promise<unknown>((resolve) => store.run('state::set', first, resolve));
  for (const operations of [1, 16, 256]) {
    const rounds = Math.max(3, Math.min(ROUNDS, Math.round((ROUNDS * 4e7) / (bytes * operations * 10))));
    const inline: number[] = [];
    const hop: { router: number; answer: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const begunMs = performance.now();
      for (let operation = 0; operation < operations; operation++) found.run(kv, update, world);
      inline.push((performance.now() - begunMs) * 1_000);
      hop.push(await runOnThread(operations));
    }
    const router = median(hop.map((one) => one.router));
    const figures = [median(inline), router, median(hop.map((one) => one.answer))].map((figure) => figure.toFixed(0));
    process.stdout.write(
      `| ${operations} | ${label} | ${figures.join(' | ')} | ${(median(inline) / router).toFixed(1)}x |\n`,
    );
  }
}
await registry.close();

/** Time at work of this very thread: what its event loop was not idle. */
async function runOnThread(operations: number): Promise<{ router: number; answer: number }> {
  const begunMs = performance.now();
  const before = performance.eventLoopUtilization();
  await new Promise<void>((resolve) => {
    let answers = 0;
    const done = (): void => {
      answers++;
      if (answers === operations) resolve();
    };
    for (let operation = 0; operation < operations; operation++)
      store.run('state::update', update, done, { wantsEvents: false });
  });
  const { active } = performance.eventLoopUtilization(before);
  return { router: active * 1_000, answer: (performance.now() - begunMs) * 1_000 };
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
