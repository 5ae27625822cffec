// One measured cell: a fresh server, responder and caller process, under load at once and measured from outside. Each
// cell has fresh processes, because a Node server that was idle before is up to a third slower.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

export interface CellSpec {
  readonly payloadBytes: number;
  readonly inFlight: number;
  readonly warmupMs: number;
  readonly measureMs: number;
}

/** The programs of the three parts. Each is a file that uses `bench/support/part.ts`. */
export interface Contender {
  readonly name: string;
  /** The checkout whose programs these are; absent: this one. */
  readonly folder?: string;
  /** Absent: the other two connect directly, and the responder reports the address. */
  readonly server: readonly string[] | undefined;
  readonly responder: readonly string[];
  readonly caller: readonly string[];
}

export interface CellResult {
  readonly callsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly worstUs: number;
  /** Microseconds of CPU per call, by part. */
  readonly serverCpuUs: number;
  readonly responderCpuUs: number;
  readonly callerCpuUs: number;
  readonly serverRssMib: number;
}

export interface Part {
  readonly child: ChildProcess;
  ask<T>(message: object): Promise<T>;
}

/** The report of a part that is ready. */
interface Standing {
  readonly url?: string;
  /** The process that does the work, if the part is only its parent. */
  readonly pid?: number;
}

interface CallerReport {
  readonly calls: number;
  readonly seconds: number;
  readonly p50Us: number;
  readonly p99Us: number;
  readonly worstUs: number;
}

export async function measureCell(contender: Contender, spec: CellSpec): Promise<CellResult> {
  const cell = await startCell(contender);
  try {
    return await cell.run(spec);
  } finally {
    await cell.stop();
  }
}

export interface RunningCell {
  run(spec: CellSpec): Promise<CellResult>;
  stop(): Promise<void>;
}

/** For contenders that take turns: their processes live as long as the comparison. */
export async function startCell(contender: Contender): Promise<RunningCell> {
  const { folder } = contender;
  const server = contender.server === undefined ? undefined : await startPart(contender.server, [], folder);
  const standing = await server?.ask<Standing>({ ask: 'ready' });
  const responder = await startPart(contender.responder, [standing?.url ?? ''], folder);
  const { url = standing?.url ?? '' } = await responder.ask<Standing>({ ask: 'ready' });
  const caller = await startPart(contender.caller, [url], folder);
  const pids = [standing?.pid ?? server?.child.pid, responder.child.pid, caller.child.pid];
  await caller.ask({ ask: 'ready' });
  return {
    run: (spec) => runCell(caller, pids, spec),
    async stop() {
      for (const part of [caller, responder, server]) if (part !== undefined) await stop(part.child);
    },
  };
}

/** `pids`: of server, responder and caller. */
async function runCell(
  caller: Part,
  pids: readonly (number | undefined)[],
  { payloadBytes, inFlight, warmupMs, measureMs }: CellSpec,
): Promise<CellResult> {
  if (warmupMs > 0) await caller.ask({ ask: 'run', payloadBytes, inFlight, ms: warmupMs });
  const before = pids.map(cpuUs);
  const report = await caller.ask<CallerReport>({ ask: 'run', payloadBytes, inFlight, ms: measureMs });
  const after = pids.map(cpuUs);
  const perCall = (part: number): number => ((after[part] ?? 0) - (before[part] ?? 0)) / report.calls;
  return {
    callsPerSecond: report.calls / report.seconds,
    p50Us: report.p50Us,
    p99Us: report.p99Us,
    worstUs: report.worstUs,
    serverCpuUs: perCall(0),
    responderCpuUs: perCall(1),
    callerCpuUs: perCall(2),
    serverRssMib: rssMib(pids[0]),
  };
}

export async function startPart(command: readonly string[], args: readonly string[], folder?: string): Promise<Part> {
  const child = spawn(process.execPath, [...command, ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    ...(folder !== undefined && { cwd: folder }),
  });
  return {
    child,
    async ask<T>(message: object): Promise<T> {
      const over = new AbortController();
      const answered = once(child, 'message', over);
      const ended = once(child, 'exit', over).then(([code]) => {
        throw new Error(`${command.join(' ')} ended with ${code} while it was asked ${JSON.stringify(message)}`);
      });
      child.send(message);
      try {
        const [answer] = await Promise.race([answered, ended]);
        // The parts belong to this benchmark, so their answers have the right type.
        return answer as T;
      } finally {
        over.abort();
      }
    },
  };
}

/** Sends a signal on which a part also ends its own server. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

const CLOCK_TICK_US = 10_000;

/** User and system time of the whole process, all threads. */
export function cpuUs(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_US;
}

/** Of the processes that this one has started and that have ended. */
export function endedCpuUs(): number {
  const fields = statOf(process.pid);
  return (Number(fields[13]) + Number(fields[14])) * CLOCK_TICK_US;
}

function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function rssMib(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}
