// The cost before the first call: the time of a start, the memory of an idle engine, and the time until the command
// line prints. Medians over fresh processes.
//
//   node bench/load/idle.ts

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

const ROUNDS = 9;
const SVC = 'bin/svc.js';
const PORT = 49198;

const readyMs: number[] = [];
const rssMib: number[] = [];
const callMs: number[] = [];
// The first start of each fills the cache of compiled code, and warms this process.
for (let round = 0; round <= ROUNDS; round++) {
  const begun = performance.now();
  const engine = startEngine('0');
  await outputOf(engine, /ws:\/\//);
  readyMs.push(performance.now() - begun);
  // The garbage of the start is collected first: this is the figure that a user sees minutes later.
  await wait(2000);
  rssMib.push(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${engine.pid}/status`, 'utf8'))?.[1]) / 1024);
  await stop(engine);
}
for (let round = 0; round <= ROUNDS; round++) {
  const begun = performance.now();
  const engine = startEngine(String(PORT));
  await firstAnswer(PORT);
  callMs.push(performance.now() - begun);
  await stop(engine);
}
for (const measured of [readyMs, rssMib, callMs]) measured.shift();

const engine = startEngine('49199');
await outputOf(engine, /ws:\/\//);
const commands: Record<string, string[]> = {
  'bare node -e 0': ['-e', '0'],
  'svc --version': [SVC, '--version'],
  'svc function list': [SVC, 'functions', 'list', '--url', 'ws://127.0.0.1:49199'],
};
const commandMs = Object.entries(commands).map(([name, args]) => [name, median(timesOf(args))] as const);
await stop(engine);

process.stdout.write(`| what | median | target |\n|---|---|---|
| engine, start to ready | ${median(readyMs).toFixed(0)} ms | |
| engine, start to the first answered call | ${median(callMs).toFixed(0)} ms | ≤ 250 ms |
| engine, idle memory | ${median(rssMib).toFixed(0)} MiB | ≤ 100 MiB |
${commandMs.map(([name, ms]) => `| ${name} | ${ms.toFixed(0)} ms | ${targetOf(name)} |`).join('\n')}
`);

function startEngine(port: string): ChildProcess {
  const env = { ...process.env, SVC_PORT: port };
  return spawn(process.execPath, [SVC, 'start', '--config', 'svc-config.yaml'], { env, stdio: 'pipe' });
}

/** Connects until the engine takes the connection, and calls a function of it. */
async function firstAnswer(port: number): Promise<void> {
  let socket: WebSocket | undefined;
  while (socket === undefined) {
    if (await isOpen(port)) socket = await openSocket(port);
    else await wait(2);
  }
  const call = { type: 'invokefunction', invocation_id: '1', function_id: 'engine::functions::list', data: {} };
  socket.send(JSON.stringify(call));
  await new Promise<void>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      if (String(data).includes('invocationresult')) resolve();
    });
  });
  socket.close();
}

/** Undefined: the engine is not ready yet. */
async function openSocket(port: number): Promise<WebSocket | undefined> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  return await new Promise((resolve) => {
    socket.onopen = () => resolve(socket);
    socket.onerror = () => resolve(undefined);
  });
}

/** A plain connection, which takes less of the processors that the engine starts with. */
async function isOpen(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

async function outputOf(child: ChildProcess, wanted: RegExp): Promise<void> {
  let seen = '';
  await new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        seen += chunk.toString();
        if (wanted.test(seen)) resolve();
      });
    }
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

function timesOf(args: string[]): number[] {
  return Array.from({ length: ROUNDS }, () => {
    const begun = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args);
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
    return performance.now() - begun;
  });
}

function targetOf(name: string): string {
  if (name === 'svc --version') return '≤ 120 ms';
  return name === 'svc function list' ? '≤ 250 ms' : '60 ms on the reference machine';
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
