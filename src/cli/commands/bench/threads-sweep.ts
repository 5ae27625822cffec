// `svc bench --threads-sweep`: the same load on engines of its own, with 1, 2, 4 … router threads, and the number that
// this machine needs. Every engine keeps its data in memory and listens on free ports of this machine.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engineNode } from '../../engine/pinned-node.ts';
import { CliFailure, EXIT } from '../../kernel/failures.ts';
import { isRecord } from '../../text/records.ts';
import { type Column, formatTable } from '../../text/table.ts';
import type { Kind } from './stages.ts';

export interface SweepOptions {
  readonly kind: Kind;
  readonly cores: number;
  /** Flags of the load, as on a command line. */
  readonly load: readonly string[];
  note(text: string): void;
}

export interface SweepRun {
  readonly threads: number;
  /** Of all load processes. */
  readonly per_second: number;
  /** Of the load process with the largest. */
  readonly p99_ms: number;
  readonly rss_bytes: number;
}

export interface Sweep {
  readonly kind: Kind;
  readonly cores: number;
  /** Load processes, each with its own clients and workers. */
  readonly processes: number;
  readonly runs: readonly SweepRun[];
  readonly recommended: { readonly threads: number; readonly reason: string };
}

/** A further router must be worth its memory. */
const WORTH = 1.05;

export async function sweepThreads({ kind, cores, load, note }: SweepOptions): Promise<Sweep> {
  const processes = Math.max(1, Math.floor(cores / 2));
  const runs: SweepRun[] = [];
  for (const threads of threadsOf(cores)) {
    note(`${threads} of ${cores} threads …`);
    runs.push(await measureWith(threads, kind, processes, load));
  }
  return { kind, cores, processes, runs, recommended: recommend(runs) };
}

export function threadsOf(cores: number): number[] {
  const counts: number[] = [];
  for (let threads = 1; threads <= cores; threads *= 2) counts.push(threads);
  return counts;
}

/** The fewest threads that are as fast as any number, within 5 %. */
export function recommend(runs: readonly SweepRun[]): Sweep['recommended'] {
  const best = Math.max(...runs.map((run) => run.per_second));
  const [first] = runs;
  const chosen = runs.find((run) => run.per_second * WORTH >= best);
  if (first === undefined || chosen === undefined) throw new Error('A sweep measures at least one number of threads');
  const times = (run: SweepRun): string => `${(run.per_second / first.per_second).toFixed(2)} times the rate of one`;
  const faster = runs.find((run) => run.per_second === best);
  if (faster === undefined || faster === chosen) {
    const isOnly = runs.length === 1;
    if (chosen !== first) return { threads: chosen.threads, reason: `it has ${times(chosen)}` };
    return { threads: 1, reason: isOnly ? 'this machine has one core' : 'more routers are not faster here' };
  }
  const reason = `${faster.threads} routers are less than 5 % faster`;
  return { threads: chosen.threads, reason: chosen === first ? reason : `it has ${times(chosen)}; ${reason}` };
}

export function sweepText({ kind, cores, processes, runs, recommended }: Sweep): string {
  return [
    `svc bench ${kind}  cores=${cores} load_processes=${processes}`,
    ...formatTable(COLUMNS, runs, undefined),
    `Recommended: threads: ${recommended.threads}, because ${recommended.reason}.`,
  ].join('\n');
}

const MIB = 1024 * 1024;
const COLUMNS: readonly Column<SweepRun>[] = [
  { name: 'threads', text: ({ threads }) => String(threads), align: 'right' },
  { name: 'per_second', text: (run) => String(Math.round(run.per_second)), align: 'right' },
  { name: 'p99_ms', text: (run) => run.p99_ms.toFixed(2), align: 'right' },
  { name: 'memory_mib', text: (run) => (run.rss_bytes / MIB).toFixed(0), align: 'right' },
];

async function measureWith(threads: number, kind: Kind, processes: number, load: readonly string[]): Promise<SweepRun> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const engine = await startEngine(threads, folder);
  try {
    const places = placesOf(await addressesOf(engine));
    const program = process.argv[1] ?? '';
    const command = [program, 'bench', kind, ...places, ...load, '--json', '--no-progress'];
    const outputs = await Promise.all(
      Array.from({ length: processes }, () => execute(engineNode(), command, { cwd: folder })),
    );
    const reports = outputs.map(({ stdout }) => readReport(stdout));
    return {
      threads,
      per_second: reports.reduce((sum, report) => sum + report.perSecond, 0),
      p99_ms: Math.max(...reports.map(({ p99Ms }) => p99Ms)),
      rss_bytes: Math.max(...reports.map(({ rssBytes }) => rssBytes)),
    };
  } catch (error) {
    throw error instanceof CliFailure ? error : failedLoad(kind, threads, error);
  } finally {
    const gone = engine.exitCode === null ? once(engine, 'exit') : undefined;
    engine.kill('SIGTERM');
    await gone;
    await rm(folder, { recursive: true, force: true });
  }
}

const execute = promisify(execFile);

const IN_MEMORY = 'adapter: {name: kv, config: {store_method: in_memory}}';
const ENGINE = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-http, config: {port: 0}}
  - {name: svc-state, config: {${IN_MEMORY}}}
  - {name: svc-stream, config: {port: 0, ${IN_MEMORY}}}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}
  - {name: svc-cron, config: {${IN_MEMORY}}}
`;

async function startEngine(threads: number, folder: string): Promise<ChildProcess> {
  const file = join(folder, 'svc-config.yaml');
  await writeFile(file, ENGINE);
  const args = [process.argv[1] ?? '', 'start', '--config', file, '--threads', String(threads), '--json'];
  return spawn(engineNode(), args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** The engine prints one document when it is ready. */
async function addressesOf(engine: ChildProcess): Promise<string[]> {
  let text = '';
  engine.stdout?.setEncoding('utf8');
  const ended = once(engine, 'exit').then(([code]) => {
    throw new CliFailure({
      code: 'ENGINE_UNREACHABLE',
      message: `The engine of the measurement ended with exit code ${code}.`,
      exitCode: EXIT.failed,
      hint: 'See why: svc start --use-default-config',
    });
  });
  const printed = new Promise<string[]>((resolve) => {
    engine.stdout?.on('data', (chunk: string) => {
      text += chunk;
      const listeners = listenersIn(text);
      if (listeners !== undefined) resolve(listeners);
    });
  });
  return await Promise.race([printed, ended]);
}

function listenersIn(text: string): string[] | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    // Not complete yet.
    return undefined;
  }
  const listeners = isRecord(document) && Array.isArray(document.listeners) ? document.listeners : [];
  return listeners.flatMap((listener) => (isRecord(listener) ? [`${listener.name} ${listener.address}`] : []));
}

function placesOf(listeners: readonly string[]): string[] {
  const addressOf = (name: string): string =>
    listeners.find((listener) => listener.startsWith(`${name} `))?.slice(name.length + 1) ?? '';
  const places = ['--url', addressOf('workers'), '--http-url', addressOf('http')];
  return [...places, '--stream-url', addressOf('streams')];
}

function readReport(text: string): { perSecond: number; p99Ms: number; rssBytes: number } {
  const report: unknown = JSON.parse(text);
  const numberAt = (...path: readonly string[]): number => {
    let value: unknown = report;
    for (const key of path) value = isRecord(value) ? value[key] : undefined;
    return typeof value === 'number' ? value : 0;
  };
  return {
    perSecond: numberAt('per_second'),
    p99Ms: numberAt('latency', 'p99_ms'),
    rssBytes: numberAt('engine', 'rss_bytes'),
  };
}

function failedLoad(kind: Kind, threads: number, error: unknown): CliFailure {
  const details = isRecord(error) && typeof error.stderr === 'string' ? error.stderr.trim() : String(error);
  return new CliFailure({
    code: 'BENCH_FAILED',
    message: `svc bench ${kind} failed with ${threads} threads: ${details}`,
    exitCode: EXIT.failed,
  });
}
