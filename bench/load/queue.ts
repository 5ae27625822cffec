// Durable jobs: 64 producers, concurrency 64, a handler that does nothing in a worker process.
//
//   1  from enqueue to done, in turns with BullMQ on its own Redis with `appendfsync` always and everysec
//   2  the rates of enqueueing and of delivery alone, with nothing and with a million jobs waiting, and how long a
//      start with them takes
//   3  memory before and after 100 000 fifo groups
//
//   node bench/load/queue.ts              3 rounds
//   node bench/load/queue.ts 1 0.01    one round, a hundredth of all sizes

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { queuePause as pause } from '../../src/store/commands/queue/admin.ts';
import { encodeEnqueue } from '../../src/store/commands/queue/codecs.ts';
import { enqueue } from '../../src/store/commands/queue/enqueue.ts';
import { openStore } from '../../src/store/kv/open-store.ts';
import { STORE_LIMITS } from '../../src/store/thread/contract.ts';
import { startRedis } from '../support/bench-redis.ts';
import { type Part, startPart, stop } from '../support/cell.ts';

const ROUNDS = Number(process.argv[2] ?? 3);
const SCALE = Number(process.argv[3] ?? 1);
const BACKLOG = 1_000_000 * SCALE;
const JOBS = 100_000 * SCALE;
const GROUPS = 100_000 * SCALE;
const PRODUCERS = 64;

interface Enqueued {
  readonly perSecond: number;
  readonly receiptP99Ms: number;
}

interface Flow {
  readonly donePerSecond: number;
  readonly receiptP99Ms: number;
}

interface Depth {
  readonly enqueuedPerSecond: number;
  readonly deliveredPerSecond: number;
  readonly readyMs: number;
  readonly ownMib: number;
}

interface Engine {
  readonly producer: Part;
  readonly pid: number | undefined;
  readonly readyMs: number;
}

const flows: Record<string, Flow[]> = { svc: [], 'BullMQ, always': [], 'BullMQ, everysec': [] };
for (let round = 0; round < ROUNDS; round++) {
  flows.svc?.push(await withEngine(0, ours));
  flows['BullMQ, always']?.push(await bullmq('always'));
  flows['BullMQ, everysec']?.push(await bullmq('everysec'));
}
print('from enqueue to done', ['done/s', 'of ours', 'p99 of a receipt']);
const ownRate = median((flows.svc ?? []).map(({ donePerSecond }) => donePerSecond));
for (const [name, cells] of Object.entries(flows)) {
  const rate = median(cells.map(({ donePerSecond }) => donePerSecond));
  const p99 = median(cells.map(({ receiptP99Ms }) => receiptP99Ms));
  print(name, [rate.toFixed(0), `1 : ${(ownRate / rate).toFixed(2)}`, `${p99.toFixed(1)} ms`]);
}

const depths: Record<string, Depth[]> = { 0: [], [BACKLOG]: [] };
for (let round = 0; round < ROUNDS; round++) {
  for (const waiting of [0, BACKLOG])
    depths[waiting]?.push(await withEngine(waiting, (engine) => alone(engine, waiting)));
}
print('waiting', ['enqueued/s', 'delivered/s', 'start', 'memory']);
for (const [name, cells] of Object.entries(depths)) {
  const of = (field: keyof Depth): string => median(cells.map((cell) => cell[field])).toFixed(0);
  print(name, [of('enqueuedPerSecond'), of('deliveredPerSecond'), `${of('readyMs')} ms`, `${of('ownMib')} MiB`]);
}

print(`${GROUPS} fifo groups`, ['memory before', 'waiting', 'after', 'waiting, others', 'after', 'and again', 'after']);
print('MiB', await withEngine(0, groups));

/** Counts jobs as done when their completion is on disk: when the engine has none left. */
async function ours({ producer }: Engine): Promise<Flow> {
  await producer.ask({ ask: 'enqueue', jobs: JOBS / 5, producers: PRODUCERS });
  await producer.ask({ ask: 'left' });
  const begunMs = performance.now();
  const { receiptP99Ms } = await producer.ask<Enqueued>({ ask: 'enqueue', jobs: JOBS, producers: PRODUCERS });
  await producer.ask({ ask: 'left' });
  return { donePerSecond: (JOBS * 1_000) / (performance.now() - begunMs), receiptP99Ms };
}

async function bullmq(appendfsync: 'always' | 'everysec'): Promise<Flow> {
  const redis = await startRedis(appendfsync);
  const worker = await startPart(['bench/rivals/bullmq-worker.ts'], [String(redis.port)]);
  const producer = await startPart(['bench/rivals/bullmq-producer.ts'], [String(redis.port)]);
  try {
    await worker.ask({ ask: 'ready' });
    await producer.ask({ ask: 'ready' });
    await producer.ask({ ask: 'enqueue', jobs: JOBS / 5, producers: PRODUCERS });
    await worker.ask({ ask: 'done', jobs: JOBS / 5 });
    const begunMs = performance.now();
    const { receiptP99Ms } = await producer.ask<Enqueued>({ ask: 'enqueue', jobs: JOBS, producers: PRODUCERS });
    await worker.ask({ ask: 'done', jobs: JOBS / 5 + JOBS });
    return { donePerSecond: (JOBS * 1_000) / (performance.now() - begunMs), receiptP99Ms };
  } finally {
    for (const part of [producer, worker]) await stop(part.child);
    await redis.stop();
  }
}

/** One after the other, because in parallel they would only share the processors. */
async function alone({ producer, pid, readyMs }: Engine, waiting: number): Promise<Depth> {
  const mib = ownMib(pid);
  await producer.ask({ ask: 'pause' });
  const { perSecond } = await producer.ask<Enqueued>({ ask: 'enqueue', jobs: JOBS, producers: PRODUCERS });
  const begunMs = performance.now();
  await producer.ask({ ask: 'resume' });
  await producer.ask({ ask: 'left', atMost: waiting });
  const seconds = (performance.now() - begunMs) / 1_000;
  return { enqueuedPerSecond: perSecond, deliveredPerSecond: JOBS / seconds, readyMs, ownMib: mib };
}

async function groups({ producer, pid }: Engine): Promise<string[]> {
  const memory = [ownMib(pid)];
  // The growth after the first ones is mostly memory that V8 keeps. Later growth is memory of the engine.
  for (let turn = 0; turn < 3; turn++) {
    await producer.ask({ ask: 'pause', queue: 'groups' });
    const firstGroup = turn * GROUPS;
    await producer.ask({ ask: 'enqueue', queue: 'groups', jobs: GROUPS, producers: PRODUCERS, firstGroup });
    memory.push(ownMib(pid));
    await producer.ask({ ask: 'resume', queue: 'groups' });
    await producer.ask({ ask: 'left', queue: 'groups' });
    memory.push(ownMib(pid));
  }
  return memory.map((mib) => mib.toFixed(0));
}

async function withEngine<T>(waiting: number, use: (engine: Engine) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-queue-'));
  if (waiting > 0) fill(folder, waiting);
  const engine = await startPart(['bench/support/svc-queue-engine.ts'], [folder]);
  const { url, readyMs } = await engine.ask<{ url: string; readyMs: number }>({ ask: 'ready' });
  const producer = await startPart(['bench/support/svc-queue-producer.ts'], [url]);
  const worker = await startPart(['bench/support/svc-queue-worker.ts'], [url]);
  try {
    await producer.ask({ ask: 'ready' });
    await worker.ask({ ask: 'ready' });
    return await use({ producer, pid: engine.child.pid, readyMs });
  } finally {
    for (const part of [producer, worker, engine]) await stop(part.child);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The queue is paused, so that no job is done before the first measurement. */
function fill(folder: string, jobs: number): void {
  const location = { kind: 'directory', folder, reserveBytes: 0, anyFileSystem: false } as const;
  const opened = openStore({ location, newEpoch: 'bench' });
  if (!opened.ok) throw new Error(opened.message);
  const payload = Buffer.from(JSON.stringify({ text: 'x'.repeat(180) }));
  const rules = { maxJobs: 2_000_000, maxDeadLetters: 1, unroutableTtlMs: 86_400_000 };
  const clocks = { nowMs: 1, monotonicMs: 1, run: 'bench' };
  const world = { ...clocks, epoch: 'bench', isDropIn: false, wantsEvents: false, limits: STORE_LIMITS };
  opened.store.write((kv) => pause.run(kv, Buffer.from('{"queue":"bench","isPaused":true}'), world));
  const job = { facts: { functionId: 'bench::nothing' }, at: 0, bytes: payload.length };
  for (let done = 0; done < jobs; done += 5_000) {
    const count = Math.min(5_000, jobs - done);
    const input = { groups: [{ queue: 'bench', rules, jobs: Array(count).fill(job) }], isAllOrNone: false };
    opened.store.write((kv) => enqueue.run(kv, encodeEnqueue(input, payload), world));
  }
  opened.close();
}

/** Anonymous memory only: pages of the store's file would count as memory too. */
function ownMib(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

function print(name: string, cells: readonly string[]): void {
  process.stdout.write(`| ${[name, ...cells].join(' | ')} |\n`);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
