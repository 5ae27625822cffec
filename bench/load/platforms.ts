// Calls and HTTP requests per second by version of Node and by the library that carries the connections. Interleaved
// rounds of one run, medians; each cell runs whole, engine and clients, on its version of Node.
//
//   npm ci --prefix test/nodes
//   node bench/load/platforms.ts            3 rounds; on Debian 13: bin/on-debian-13.sh 22 node bench/load/platforms.ts
//   node bench/load/platforms.ts 5       more

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { measureCell } from '../support/cell.ts';
import { SVC_BINARY } from '../support/contenders.ts';
import { engineStage, measureHttp } from '../support/http-cell.ts';

interface Cell {
  readonly callsPerSecond: number;
  readonly callCpuUs: number;
  readonly requestsPerSecond: number;
  readonly requestCpuUs: number;
}

const PLATFORMS = [22, 24, 26].flatMap((major) => ['uws', 'ws'].map((transport) => ({ major, transport })));
const [argument] = process.argv.slice(2);

if (argument === '--cell') process.stdout.write(JSON.stringify(await measure()));
else await compare(Number(argument ?? 3));

async function measure(): Promise<Cell> {
  const calls = await measureCell(SVC_BINARY, { payloadBytes: 100, inFlight: 64, warmupMs: 1_500, measureMs: 3_000 });
  const http = await measureHttp(engineStage('svc', { isObserved: false }));
  return {
    callsPerSecond: calls.callsPerSecond,
    callCpuUs: calls.serverCpuUs,
    requestsPerSecond: http.requestsPerSecond,
    requestCpuUs: http.cpuUs,
  };
}

async function compare(rounds: number): Promise<void> {
  const cells = PLATFORMS.map((): Cell[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { major, transport }] of PLATFORMS.entries()) {
      cells[index]?.push(await runCell(major, transport));
    }
  }
  const [first = []] = cells;
  process.stdout.write(
    '| Node | library | calls/s | engine CPU per call, µs | requests/s | engine CPU per request, µs |\n',
  );
  process.stdout.write('|---|---|---|---|---|---|\n');
  for (const [index, { major, transport }] of PLATFORMS.entries()) {
    const own = cells[index] ?? [];
    const column = (field: keyof Cell, digits: number): string => {
      const [value, base] = [own, first].map((all) => median(all.map((cell) => cell[field])));
      return `${value?.toFixed(digits)} (${((value ?? 0) / (base ?? 1)).toFixed(2)})`;
    };
    const calls = `${column('callsPerSecond', 0)} | ${column('callCpuUs', 1)}`;
    const requests = `${column('requestsPerSecond', 0)} | ${column('requestCpuUs', 1)}`;
    process.stdout.write(`| ${major} | ${transport === 'uws' ? 'uWebSockets.js' : 'ws'} | ${calls} | ${requests} |\n`);
  }
}

async function runCell(major: number, transport: string): Promise<Cell> {
  const own = process.versions.node.startsWith(`${major}.`);
  const node = own
    ? process.execPath
    : join(import.meta.dirname, `../../test/nodes/node_modules/node-${major}/bin/node`);
  const env = { ...process.env, SVC_TRANSPORT: transport };
  const child = spawn(node, ['bench/load/platforms.ts', '--cell'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return JSON.parse(output);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
