// The cost of large numbers: memory of each idle worker connection, memory of each registered function, and a call
// among 100 000 registered functions against one among ten (CPU of the engine) and among 1 000 (calls per second).
//
//   node bench/load/scale.ts
//   node bench/load/scale.ts 3        three rounds
//   node bench/load/scale.ts --quick  small numbers, one short round: shows that the bench runs

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type CellResult, type Contender, measureCell } from '../support/cell.ts';

const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 1 : Number(process.argv[2] ?? 7);
const CONNECTIONS = isQuick ? 200 : 10_000;
const [FEW, SOME, MANY] = isQuick ? [10, 100, 1_000] : [10, 1_000, 100_000];
/** Longer than a round of pings, so that the figure is the memory of an open connection and not of its handshake. */
const STANDING_MS = isQuick ? 100 : 15_000;
const WARMUP_MS = isQuick ? 100 : 1_000;
const MEASURE_MS = isQuick ? 200 : 2_000;

const kib = await idleConnectionKib();
process.stdout.write(`| what | figure | target |\n|---|---|---|
| memory of the engine per idle worker connection, ${CONNECTIONS} of them | ${kib.toFixed(1)} KiB | ≤ 40 KiB |
`);

const cells: Record<'few' | 'some' | 'many', CellResult[]> = { few: [], some: [], many: [] };
for (let round = 0; round < ROUNDS; round++) {
  cells.few.push(await callsAmong(FEW));
  cells.some.push(await callsAmong(SOME));
  cells.many.push(await callsAmong(MANY));
}
const cpu = (cell: CellResult): number => cell.serverCpuUs;
const rate = (cell: CellResult): number => cell.callsPerSecond;
const rss = (cell: CellResult): number => cell.serverRssMib * 1024;
const functionKib = (median(cells.many, rss) - median(cells.some, rss)) / (MANY - SOME);
process.stdout.write(
  `| engine CPU per call, µs, with ${MANY} registered functions against ${FEW} | ` +
    `${compared(cells.many, cells.few, cpu, 2)} | ≤ 1.05 |\n` +
    `| calls per second with ${MANY} registered functions against ${SOME} | ` +
    `${compared(cells.many, cells.some, rate, 0)} | |\n` +
    `| memory of the engine per registered function, ${MANY} against ${SOME} | ${functionKib.toFixed(2)} KiB | |\n`,
);

async function idleConnectionKib(): Promise<number> {
  const server = spawn(process.execPath, ['bench/support/svc-engine.ts'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  server.send({ ask: 'ready' });
  const [{ url }] = (await once(server, 'message')) as [{ url: string }];
  await wait(1000);
  const before = rssKib(server.pid);
  const crowd = spawn(process.execPath, ['bench/support/idle-crowd.ts', url, String(CONNECTIONS)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(crowd, 'message');
  await wait(STANDING_MS);
  const after = rssKib(server.pid);
  crowd.kill('SIGKILL');
  server.kill('SIGKILL');
  return (after - before) / CONNECTIONS;
}

async function callsAmong(functions: number): Promise<CellResult> {
  const contender: Contender = {
    name: 'svc',
    server: ['bench/support/svc-engine.ts'],
    responder: ['native-bench/bare-binary-client.ts', 'responder', String(functions)],
    caller: ['native-bench/bare-binary-client.ts', 'caller', '0'],
  };
  return await measureCell(contender, { payloadBytes: 100, inFlight: 64, warmupMs: WARMUP_MS, measureMs: MEASURE_MS });
}

function rssKib(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function compared(one: CellResult[], other: CellResult[], pick: (cell: CellResult) => number, digits: number): string {
  const [first, second] = [median(one, pick), median(other, pick)];
  const spreads = [one, other].map((cells) => spread(cells.map(pick), digits)).join(' and ');
  return `${first.toFixed(digits)} / ${second.toFixed(digits)} = ${(first / second).toFixed(2)} (spread ${spreads})`;
}

function median(cells: readonly CellResult[], pick: (cell: CellResult) => number): number {
  return cells.map(pick).sort((a, b) => a - b)[Math.floor(cells.length / 2)] ?? 0;
}

function spread(values: readonly number[], digits: number): string {
  return `${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)}`;
}
