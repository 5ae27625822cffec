// What large numbers cost: memory of each idle worker connection, and a call among 100 000 registered functions
// against one among ten.
//
//   npm run bench:scale

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Contender, measureCell } from '../support/cell.ts';

const CONNECTIONS = 10_000;
/** `npm run bench:scale -- 3` for fewer. */
const ROUNDS = Number(process.argv[2] ?? 7);

const kib = await idleConnectionKib();
process.stdout.write(`| what | figure | target |\n|---|---|---|
| memory of the engine per idle worker connection, ${CONNECTIONS} of them | ${kib.toFixed(1)} KiB | ≤ 40 KiB |
`);

const few: number[] = [];
const many: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  few.push(await engineCpuUs(10));
  many.push(await engineCpuUs(100_000));
}
const ratio = median(many) / median(few);
process.stdout.write(
  `| engine CPU per call with 100 000 registered functions against 10 | ${median(many).toFixed(2)} µs / ` +
    `${median(few).toFixed(2)} µs = ${ratio.toFixed(2)} (spread ${spread(few)} and ${spread(many)}) | ≤ 1.05 |\n`,
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
  // Longer than a round of pings, so that the figure holds what a standing connection keeps and not its set-up.
  await wait(15_000);
  const after = rssKib(server.pid);
  crowd.kill('SIGKILL');
  server.kill('SIGKILL');
  return (after - before) / CONNECTIONS;
}

async function engineCpuUs(functions: number): Promise<number> {
  const contender: Contender = {
    name: 'svc',
    server: ['bench/support/svc-engine.ts'],
    responder: ['native-bench/bare-binary-client.ts', 'responder', String(functions)],
    caller: ['native-bench/bare-binary-client.ts', 'caller', '0'],
  };
  const spec = { payloadBytes: 100, inFlight: 64, warmupMs: 1000, measureMs: 2000 };
  return (await measureCell(contender, spec)).serverCpuUs;
}

function rssKib(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function spread(values: number[]): string {
  return `${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)}`;
}
