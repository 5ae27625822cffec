// A process that the engine starts for a worker, and that never outlives it (R6).
//
// A shell of a few lines runs between the two. It reads from a pipe that only the engine holds. When the engine ends,
// even by kill -9, the pipe ends and the shell ends the whole process group: first with SIGTERM, five seconds later
// with SIGKILL. If the shell itself is killed, the engine notices and kills the group. Invariant: when `ended` has been
// called, no process of the group is left.

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { systemClock } from './clock.ts';

export interface StartedProcess {
  /** Of the process group: signals reach all of it. */
  readonly pid: number;
  /** Asks it to end; a worker with an SDK finishes its running calls. */
  terminate(): void;
  kill(): void;
  usage(): ProcessUsage;
}

export interface ProcessUsage {
  readonly rssBytes: number;
  /** CPU time since its start, user and system together. */
  readonly cpuMs: number;
}

export interface ProcessOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ProcessEvents {
  /** One line of its output, without the line end; long lines come in pieces. */
  line(stream: 'stdout' | 'stderr', text: string): void;
  /** `cause` in words: `exit code 1`, `signal SIGKILL`, or why it could not be started. */
  ended(end: { readonly isClean: boolean; readonly cause: string }): void;
}

/**
 * `$1` is the command, run by a shell of its own. The traps keep both shells alive through a SIGTERM to the group,
 * until the command has ended in its own time; traps are not inherited, so the command itself gets the signal.
 */
const GUARD = `
trap : TERM INT HUP
sh -c 'trap : TERM INT HUP; eval "$1"' svc-worker "$1" 3<&- &
child=$!
{ trap '' TERM; read -r _ <&3; kill -TERM 0; sleep 5; kill -KILL 0; } >/dev/null 2>&1 &
guard=$!
while :; do
  { wait "$child"; code=$?; } 2>/dev/null
  kill -0 "$child" 2>/dev/null || break
done
kill -KILL "$guard" 2>/dev/null
exit "$code"
`;

const LINE_CHARS_MAX = 16 * 1024;
/** How long the output of a process that has ended may stay open. */
const OUTPUT_READ_MS = 1_000;

export function startProcess(options: ProcessOptions, events: ProcessEvents): StartedProcess {
  const child = spawn('/bin/sh', ['-c', GUARD, 'svc-worker', options.command], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  let hasEnded = false;
  const end = (isClean: boolean, cause: string): void => {
    if (hasEnded) return;
    hasEnded = true;
    signalGroup(child, 'SIGKILL');
    events.ended({ isClean, cause });
  };
  child.once('error', (error) => end(false, error.message));
  readLines(child.stdout, (text) => events.line('stdout', text));
  readLines(child.stderr, (text) => events.line('stderr', text));
  // `close` comes when the output has been read to its end, too. A remaining process of the group may hold it open, and
  // is killed first; one that has left the group is not waited for.
  child.once('exit', (code, signal) => {
    signalGroup(child, 'SIGKILL');
    const cancel = systemClock.after(OUTPUT_READ_MS, () => {
      for (const stream of child.stdio) stream?.destroy();
      end(code === 0, describeEnd(code, signal));
    });
    child.once('close', cancel);
  });
  child.once('close', (code, signal) => end(code === 0, describeEnd(code, signal)));
  return {
    pid: child.pid ?? 0,
    terminate: () => signalGroup(child, 'SIGTERM'),
    kill: () => signalGroup(child, 'SIGKILL'),
    usage: () => usageOfGroup(child.pid),
  };
}

/** The shell reports a command that a signal ended as 128 plus the signal's number. */
function describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal !== null) return `signal ${signal}`;
  const number = code ?? 0;
  return number > 128 ? `signal ${SIGNAL_NAMES[number - 128] ?? number - 128}` : `exit code ${number}`;
}

const SIGNAL_NAMES: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
};

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}

/**
 * Where no process could be created, for lack of descriptors, Node leaves its streams undefined, whatever their type.
 */
function readLines(stream: Readable | null | undefined, report: (line: string) => void): void {
  if (stream === null || stream === undefined) return;
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) report(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (rest.length <= LINE_CHARS_MAX) return;
    report(rest);
    rest = '';
  });
  stream.on('end', () => {
    if (rest !== '') report(rest);
  });
  stream.on('error', () => {});
}

/** Linux reports process times in ticks of 100 a second, whatever its own clock rate is. */
const MS_PER_TICK = 10;
const PAGE_BYTES = 4096;
/** After the name, which may contain anything: fields 5, 14, 15 and 24 of proc(5). */
const FIELD = { group: 2, userTicks: 11, systemTicks: 12, pages: 21 } as const;

function usageOfGroup(group: number | undefined): ProcessUsage {
  let rssBytes = 0;
  let cpuMs = 0;
  for (const fields of processes()) {
    if (Number(fields[FIELD.group]) !== group) continue;
    rssBytes += Number(fields[FIELD.pages]) * PAGE_BYTES;
    cpuMs += (Number(fields[FIELD.userTicks]) + Number(fields[FIELD.systemTicks])) * MS_PER_TICK;
  }
  return { rssBytes, cpuMs };
}

/** Empty where there is no /proc. */
function processes(): string[][] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  return names.flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return [text.slice(text.lastIndexOf(')') + 2).split(' ')];
    } catch {
      return [];
    }
  });
}
