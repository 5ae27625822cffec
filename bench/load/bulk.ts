// Fairness: how long another caller waits for the same worker while one caller makes ten thousand calls at once, and
// while it keeps as many calls running as the worker's limit allows, which was the most before calls could wait.
//
//   node bench/load/bulk.ts
//   node bench/load/bulk.ts 3        three rounds
//   node bench/load/bulk.ts --quick  one short round: shows that the bench runs

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from 'hdr-histogram-js';
import { registerWorker } from 'svc-sdk';

const FUNCTION = 'bench::echo';
const BULK = 10_000;
/** Below the worker's limit of 1 024, so that the other caller's call finds a place. */
const AT_THE_LIMIT = 1_000;
const isQuick = process.argv.includes('--quick');
const MEASURE_MS = isQuick ? 500 : 4_000;
const WARMUP_MS = isQuick ? 200 : 1_500;

type Neighbour = 'none' | 'loop' | 'burst' | 'bulk';
const NEIGHBOURS = ['none', 'loop', 'burst', 'bulk'] as const;
const [, , role, url] = process.argv;
if (role === 'worker') runWorker();
else if (role === 'loop') runLoop();
else if (role === 'burst') await runBulk(AT_THE_LIMIT);
else if (role === 'bulk') await runBulk(BULK);
else await measure(isQuick ? 1 : Number(role ?? 5));

function runWorker(): void {
  const echo = registerWorker(url).registerFunction(FUNCTION, async (value: unknown) => value);
  void echo.ready().then(() => process.send?.('ready'));
}

function runLoop(): void {
  const svc = registerWorker(url, { log: () => {} });
  const loop = async (): Promise<void> => {
    for (;;) {
      await svc.trigger({ function_id: FUNCTION, payload: 1 });
      done++;
    }
  };
  let done = 0;
  for (let at = 0; at < AT_THE_LIMIT; at++) void loop();
  setInterval(() => process.send?.(done), 100);
}

async function runBulk(count: number): Promise<void> {
  const svc = registerWorker(url, { log: () => {} });
  let done = 0;
  setInterval(() => process.send?.(done), 100);
  for (;;) {
    const calls = Array.from({ length: count }, () => svc.trigger({ function_id: FUNCTION, payload: 1 }));
    await Promise.all(calls);
    done += count;
  }
}

interface Cell {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly neighbourPerSecond: number;
}

async function measure(rounds: number): Promise<void> {
  const cells: Record<Neighbour, Cell[]> = { none: [], loop: [], burst: [], bulk: [] };
  for (let round = 0; round < rounds; round++) {
    for (const neighbour of NEIGHBOURS) cells[neighbour].push(await measureCell(neighbour));
  }
  const row = (name: string, neighbour: Neighbour): string => {
    const [p50, p99, rate] = (['p50Ms', 'p99Ms', 'neighbourPerSecond'] as const).map((field) =>
      median(cells[neighbour].map((cell) => cell[field])),
    );
    return `| ${name} | ${p50?.toFixed(2)} | ${p99?.toFixed(2)} | ${rate?.toFixed(0)} |\n`;
  };
  process.stdout.write('| the other caller makes | p50, ms | p99, ms | its calls per second |\n|---|---|---|---|\n');
  process.stdout.write(row('no calls', 'none'));
  process.stdout.write(row(`${AT_THE_LIMIT} calls at a time, each after another`, 'loop'));
  process.stdout.write(row(`${AT_THE_LIMIT} calls at once, again and again`, 'burst'));
  process.stdout.write(row(`${BULK} calls at once, again and again`, 'bulk'));
  for (const before of ['loop', 'burst'] as const) {
    const ratios = cells.bulk.map(({ p99Ms }, round) => p99Ms / (cells[before][round]?.p99Ms ?? Number.NaN));
    const what = before === 'loop' ? 'each after another' : 'at once';
    process.stdout.write(`\np99 with ${BULK} at once against ${AT_THE_LIMIT} ${what}: ${median(ratios).toFixed(2)}\n`);
  }
}

async function measureCell(neighbour: Neighbour): Promise<Cell> {
  const engine = start('bench/support/svc-engine.ts');
  engine.send({ ask: 'ready' });
  const [{ url: engineUrl }] = (await once(engine, 'message')) as [{ url: string }];
  const worker = start('bench/load/bulk.ts', 'worker', engineUrl);
  await once(worker, 'message');
  const other = neighbour === 'none' ? undefined : start('bench/load/bulk.ts', neighbour, engineUrl);
  let done = 0;
  other?.on('message', (count: number) => {
    done = count;
  });
  const svc = registerWorker(engineUrl, { log: () => {} });
  await svc.ready();
  await wait(WARMUP_MS);
  const latencies = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: 60_000_000,
    numberOfSignificantValueDigits: 3,
  });
  const [startMs, doneBefore] = [performance.now(), done];
  while (performance.now() - startMs < MEASURE_MS) {
    const sentMs = performance.now();
    await svc.trigger({ function_id: FUNCTION, payload: 1 });
    latencies.recordValue(Math.round((performance.now() - sentMs) * 1_000));
  }
  const seconds = (performance.now() - startMs) / 1_000;
  const cell = {
    p50Ms: latencies.getValueAtPercentile(50) / 1_000,
    p99Ms: latencies.getValueAtPercentile(99) / 1_000,
    neighbourPerSecond: (done - doneBefore) / seconds,
  };
  for (const child of [other, worker, engine]) child?.kill('SIGKILL');
  await svc.shutdown();
  return cell;
}

function start(script: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
