// Durable state over the wire against the same number of durable puts on bare lmdb, and against a Redis that syncs
// every write. Also gets and updates, the cost of large updates for other callers, and the start with a million
// entries.
//
//   node bench/load/state.ts

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { entryKey } from '../../src/store/commands/state/commands.ts';
import { openStore } from '../../src/store/kv/open-store.ts';
import { type Part, startPart, stop } from '../support/cell.ts';
import { inFolder } from '../support/folder.ts';

/** `node bench/load/state.ts 3` for fewer. */
const ROUNDS = Number(process.argv[2] ?? 5);
const CALLERS = 256;
const KEYS = 10_000;
/** V8 compiles late what runs once for many calls, such as a batch: the first seconds are half as fast. */
const WARMUP_MS = 8_000;
const MEASURE_MS = 2_000;
const ENTRIES = 1_000_000;

interface Report {
  readonly calls: number;
  readonly seconds: number;
  readonly p99Us: number;
}

const rates: Record<string, number[]> = { lmdb: [], redis: [], set: [], get: [], update: [] };
for (let round = 0; round < ROUNDS; round++) {
  rates.lmdb?.push(await inFolder(barePuts));
  rates.redis?.push(await redisSets());
  for (const kind of ['set', 'get', 'update']) rates[kind]?.push(await inFolder((folder) => stateCalls(folder, kind)));
}
process.stdout.write(
  `| ${CALLERS} callers, 200 B | per second | of bare lmdb | of Redis | spread |\n|---|---|---|---|---|\n`,
);
for (const [name, values] of Object.entries(rates)) {
  const rate = median(values);
  const ratios = [rate / median(rates.lmdb ?? []), rate / median(rates.redis ?? [])].map((ratio) => ratio.toFixed(2));
  process.stdout.write(`| ${name} | ${rate.toFixed(0)} | ${ratios.join(' | ')} | ${spread(values)} |\n`);
}

const idle: number[] = [];
const busy: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const { idleP99Us, busyP99Us } = await inFolder(besideLargeUpdates);
  idle.push(idleP99Us);
  busy.push(busyP99Us);
}
process.stdout.write(
  `\np99 of other calls: ${median(idle).toFixed(0)} µs alone, ${median(busy).toFixed(0)} µs while 4 MiB values are ` +
    `updated: ${(median(busy) / median(idle)).toFixed(2)}x (target ≤ 2)\n`,
);

const starts = await inFolder(restarts);
process.stdout.write(
  `start: ${starts.emptyMs.toFixed(0)} ms empty, ${starts.fullMs.toFixed(0)} ms with ${ENTRIES} entries (target ≤ ` +
    `3 000); memory ${starts.emptyMib.toFixed(0)} and ${starts.fullMib.toFixed(0)} MiB (target ≤ 64 more)\n`,
);

/** This many puts in each transaction: the best possible result for as many callers. */
async function barePuts(folder: string): Promise<number> {
  const settings = { overlappingSync: false, encoding: 'binary', keyEncoding: 'binary' } as const;
  const db = open<Buffer, Buffer>({ path: folder, noSubdir: false, mapSize: 64 * 1024 ** 3, ...settings });
  const value = Buffer.alloc(200, 65);
  let puts = 0;
  const putMany = (): void => {
    db.transactionSync(() => {
      for (let put = 0; put < CALLERS; put++) db.putSync(Buffer.from(`sbench\0key-${(puts + put) % KEYS}`), value);
    });
    puts += CALLERS;
  };
  // As for the engine: every key exists before the measurement.
  const warmMs = performance.now() + WARMUP_MS;
  while (puts < KEYS || performance.now() < warmMs) putMany();
  puts = 0;
  const begunMs = performance.now();
  while (performance.now() - begunMs < MEASURE_MS) putMany();
  const rate = puts / ((performance.now() - begunMs) / 1_000);
  await db.close();
  return rate;
}

async function redisSets(): Promise<number> {
  const caller = await startPart(['bench/support/redis-set-caller.ts'], []);
  await caller.ask({ ask: 'ready' });
  try {
    return await rateOf(caller, CALLERS);
  } finally {
    await stop(caller.child);
  }
}

async function stateCalls(folder: string, kind: string): Promise<number> {
  return await withEngine(folder, async (url) => {
    if (kind === 'get') await withCaller(url, 'set', async () => {});
    return await withCaller(url, kind, (caller) => rateOf(caller, CALLERS));
  });
}

async function besideLargeUpdates(folder: string): Promise<{ idleP99Us: number; busyP99Us: number }> {
  return await withEngine(folder, async (url) => {
    const responder = await startPart(['bench/support/svc-responder.ts'], [url]);
    await responder.ask({ ask: 'ready' });
    const other = await startPart(['bench/support/svc-caller.ts'], [url]);
    await other.ask({ ask: 'ready' });
    try {
      await run(other, 4, WARMUP_MS);
      const { p99Us: idleP99Us } = await run(other, 4, MEASURE_MS);
      const { p99Us: busyP99Us } = await withCaller(url, 'large', async (large) => {
        await run(large, 1, WARMUP_MS);
        const updates = run(large, 1, MEASURE_MS + 500);
        const report = await run(other, 4, MEASURE_MS);
        await updates;
        return report;
      });
      return { idleP99Us, busyP99Us };
    } finally {
      for (const part of [other, responder]) await stop(part.child);
    }
  });
}

async function restarts(folder: string) {
  const full = join(folder, 'full');
  const location = { kind: 'directory', folder: full, reserveBytes: 0, anyFileSystem: false } as const;
  const opened = openStore({ location, newEpoch: 'bench' });
  if (!opened.ok) throw new Error(opened.message);
  const value = Buffer.from(JSON.stringify('x'.repeat(200)));
  for (let start = 0; start < ENTRIES; start += 10_000) {
    opened.store.write((kv) => {
      for (let entry = start; entry < start + 10_000; entry++) {
        kv.put(entryKey(Buffer.from('bench'), Buffer.from(`key-${entry}`)), value);
      }
    });
  }
  opened.close();
  const [empty, loaded] = [await startOnce(join(folder, 'empty')), await startOnce(full)];
  return { emptyMs: empty.readyMs, fullMs: loaded.readyMs, emptyMib: empty.rssMib, fullMib: loaded.rssMib };
}

async function startOnce(folder: string): Promise<{ readyMs: number; rssMib: number }> {
  const engine = await startPart(['bench/support/svc-state-engine.ts'], [folder]);
  const { readyMs } = await engine.ask<{ readyMs: number }>({ ask: 'ready' });
  const status = readFileSync(`/proc/${engine.child.pid}/status`, 'utf8');
  await stop(engine.child);
  return { readyMs, rssMib: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 };
}

async function withEngine<T>(folder: string, use: (url: string) => Promise<T>): Promise<T> {
  const engine = await startPart(['bench/support/svc-state-engine.ts'], [folder]);
  const { url } = await engine.ask<{ url: string }>({ ask: 'ready' });
  try {
    return await use(url);
  } finally {
    await stop(engine.child);
  }
}

async function withCaller<T>(url: string, kind: string, use: (caller: Part) => Promise<T>): Promise<T> {
  const caller = await startPart(['bench/support/svc-state-caller.ts'], [url, kind]);
  await caller.ask({ ask: 'ready' });
  try {
    return await use(caller);
  } finally {
    await stop(caller.child);
  }
}

async function rateOf(caller: Part, inFlight: number): Promise<number> {
  await run(caller, inFlight, WARMUP_MS);
  const { calls, seconds } = await run(caller, inFlight, MEASURE_MS);
  return calls / seconds;
}

function run(caller: Part, inFlight: number, ms: number): Promise<Report> {
  return caller.ask<Report>({ ask: 'run', payloadBytes: 100, inFlight, ms });
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

function spread(values: readonly number[]): string {
  return `${(Math.max(...values) / Math.min(...values)).toFixed(2)}x`;
}
