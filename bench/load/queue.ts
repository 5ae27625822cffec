// Durable jobs from enqueue to done: 64 producers, concurrency 64, a handler that does nothing in a worker process.
// Then the same with a million jobs waiting, and how long a start with them takes.
//
//   npm run bench:queue

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { STORE_LIMITS } from '../../dist/src/store/contract.js';
import { openStore } from '../../dist/src/store/open-store.js';
import { enqueue } from '../../dist/src/store/queue/enqueue.js';
import { encodeFramed } from '../../dist/src/store/queue/framed.js';
import { startPart, stop } from '../support/cell.ts';

/** `npm run bench:queue -- 1` for fewer. */
const ROUNDS = Number(process.argv[2] ?? 3);
const BACKLOG = 1_000_000;
const PRODUCERS = 64;
const JOBS = 50_000;

interface Report {
  readonly enqueuedPerSecond: number;
  readonly donePerSecond: number;
  readonly receiptP99Ms: number;
}

interface Cell extends Report {
  readonly readyMs: number;
  readonly rssMib: number;
}

const empty: Cell[] = [];
const full: Cell[] = [];
for (let round = 0; round < ROUNDS; round++) {
  empty.push(await measure(0));
  full.push(await measure(BACKLOG));
}
process.stdout.write(
  '| waiting | enqueued/s | done/s | p99 of a receipt | start | memory |\n|---|---|---|---|---|---|\n',
);
for (const [name, cells] of [
  ['0', empty],
  [String(BACKLOG), full],
] as const) {
  const of = (field: keyof Cell): number => median(cells.map((cell) => cell[field]));
  const rates = `${of('enqueuedPerSecond').toFixed(0)} | ${of('donePerSecond').toFixed(0)}`;
  const costs = `${of('receiptP99Ms').toFixed(1)} ms | ${of('readyMs').toFixed(0)} ms | ${of('rssMib').toFixed(0)} MiB`;
  process.stdout.write(`| ${name} | ${rates} | ${costs} |\n`);
}

async function measure(backlog: number): Promise<Cell> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-queue-'));
  if (backlog > 0) fill(folder, backlog);
  const engine = await startPart(['bench/support/svc-queue-engine.ts'], [folder]);
  const { url, readyMs } = await engine.ask<{ url: string; readyMs: number }>({ ask: 'ready' });
  const status = readFileSync(`/proc/${engine.child.pid}/status`, 'utf8');
  const rssMib = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  const worker = await startPart(['bench/support/svc-queue-worker.ts'], [url]);
  const producer = await startPart(['bench/support/svc-queue-producer.ts'], [url]);
  try {
    await worker.ask({ ask: 'ready' });
    await producer.ask({ ask: 'ready' });
    await producer.ask({ ask: 'run', jobs: JOBS / 5, producers: PRODUCERS });
    const report = await producer.ask<Report>({ ask: 'run', jobs: JOBS, producers: PRODUCERS });
    return { ...report, readyMs, rssMib };
  } finally {
    for (const part of [producer, worker, engine]) await stop(part.child);
    rmSync(folder, { recursive: true, force: true });
  }
}

function fill(folder: string, jobs: number): void {
  const place = { kind: 'directory', folder, reserveBytes: 0, anyFileSystem: false } as const;
  const opened = openStore({ place, isDropIn: false, limits: STORE_LIMITS, newEpoch: 'bench' });
  if (!opened.ok) throw new Error(opened.message);
  const payload = Buffer.from(JSON.stringify({ text: 'x'.repeat(180) }));
  const rules = { maxJobs: 2_000_000, maxDeadLetters: 1, unroutableTtlMs: 86_400_000 };
  const job = { facts: { functionId: 'bench::nothing' }, at: 0, bytes: payload.length };
  const head = { groups: [{ queue: 'bench', rules, jobs: Array(5_000).fill(job) }], isAllOrNone: false };
  const input = encodeFramed(head, payload);
  const world = { nowMs: 1, epoch: 'bench', isDropIn: false, wantsEvents: false, limits: STORE_LIMITS };
  for (let done = 0; done < jobs; done += 5_000) opened.store.write((kv) => enqueue.run(kv, input, world));
  opened.close();
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
