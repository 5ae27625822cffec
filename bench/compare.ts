// This tree against another commit of svc, in interleaved rounds of one run: what a change costs. The other commit is
// checked out and built in a folder of its own, which is removed at the end.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { compared, type Pairs } from './report/pairs.ts';
import { type Contender, measureCell, startPart, stop } from './support/cell.ts';
import { SVC_BINARY, SVC_JSON } from './support/contenders.ts';
import { inFolder } from './support/folder.ts';
import { engineStage, measureHttp } from './support/http-cell.ts';

const SPEC = { payloadBytes: 100, inFlight: 64, warmupMs: 4000, measureMs: 3000 };
const STATE_CALLERS = 256;
const JOBS = 30_000;
const PRODUCERS = 64;

type Figures = Readonly<Record<string, number>>;

/** What each round measures. Each measurement has fresh processes. */
const WORKLOADS: Readonly<Record<string, (folder: string) => Promise<Figures>>> = {
  'calls, binary form': (folder) => calls({ ...SVC_BINARY, folder }),
  'calls, JSON form': (folder) => calls({ ...SVC_JSON, folder }),
  'HTTP requests': async (folder) => {
    const figures = await measureHttp(engineStage('svc', { folder }));
    return { 'per second': figures.requestsPerSecond, 'engine CPU µs': figures.cpuUs, 'p99 µs': figures.p99Us };
  },
  'state sets': (folder) => inFolder((store) => sets(folder, store)),
  jobs: (folder) => inFolder((store) => jobs(folder, store)),
};

/** Prints a table, and which differences exceed the spread of the rounds. */
export async function compareWith(commit: string, rounds: number): Promise<void> {
  await inFolder((root) => compareIn(join(root, 'before'), commit, rounds));
}

async function compareIn(before: string, commit: string, rounds: number): Promise<void> {
  const run = (command: string, args: string[], cwd: string): void => {
    execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  run('git', ['worktree', 'add', '--detach', before, commit], process.cwd());
  try {
    run('npm', ['ci', '--no-audit', '--no-fund'], before);
    run('npm', ['run', '-s', 'build'], before);
    process.stdout.write(compared(await measurePairs({ before, now: process.cwd() }, rounds)));
  } finally {
    run('git', ['worktree', 'remove', '--force', before], process.cwd());
  }
}

async function measurePairs(folders: Readonly<Record<'before' | 'now', string>>, rounds: number): Promise<Pairs> {
  const pairs = new Map<string, { before: number[]; now: number[] }>();
  for (let round = 0; round < rounds; round++) {
    for (const [workload, measure] of Object.entries(WORKLOADS)) {
      for (const side of round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)) {
        for (const [figure, value] of Object.entries(await measure(folders[side]))) {
          const key = `${workload} | ${figure}`;
          const row = pairs.get(key) ?? { before: [], now: [] };
          row[side].push(value);
          pairs.set(key, row);
        }
      }
      process.stderr.write(`round ${round + 1} of ${rounds}: ${workload}\n`);
    }
  }
  return pairs;
}

async function calls(contender: Contender): Promise<Figures> {
  const cell = await measureCell(contender, SPEC);
  return {
    'per second': cell.callsPerSecond,
    'engine CPU µs': cell.serverCpuUs,
    'worker CPU µs': cell.responderCpuUs,
    'caller CPU µs': cell.callerCpuUs,
    'p99 µs': cell.p99Us,
  };
}

async function sets(folder: string, store: string): Promise<Figures> {
  const engine = await startPart(['bench/support/svc-state-engine.ts'], [store], folder);
  const { url } = await engine.ask<{ url: string }>({ ask: 'ready' });
  const caller = await startPart(['bench/support/svc-state-caller.ts'], [url, 'set'], folder);
  try {
    await caller.ask({ ask: 'ready' });
    const run = { ask: 'run', payloadBytes: 100, inFlight: STATE_CALLERS };
    await caller.ask({ ...run, ms: SPEC.warmupMs });
    const report = await caller.ask<{ calls: number; seconds: number }>({ ...run, ms: SPEC.measureMs });
    return { 'per second': report.calls / report.seconds };
  } finally {
    for (const part of [caller, engine]) await stop(part.child);
  }
}

async function jobs(folder: string, store: string): Promise<Figures> {
  const engine = await startPart(['bench/support/svc-queue-engine.ts'], [store], folder);
  const { url } = await engine.ask<{ url: string }>({ ask: 'ready' });
  const producer = await startPart(['bench/support/svc-queue-producer.ts'], [url], folder);
  const worker = await startPart(['bench/support/svc-queue-worker.ts'], [url], folder);
  try {
    for (const part of [producer, worker]) await part.ask({ ask: 'ready' });
    await producer.ask({ ask: 'enqueue', jobs: JOBS, producers: PRODUCERS });
    await producer.ask({ ask: 'left' });
    const begunMs = performance.now();
    await producer.ask({ ask: 'enqueue', jobs: JOBS, producers: PRODUCERS });
    await producer.ask({ ask: 'left' });
    return { 'done per second': (JOBS * 1_000) / (performance.now() - begunMs) };
  } finally {
    for (const part of [producer, worker, engine]) await stop(part.child);
  }
}
