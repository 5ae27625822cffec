// This checkout against another one of svc: calls in both forms of the wire and HTTP requests, in interleaved rounds of
// one run. Shows what a change costs.
//
//   git worktree add ../before <commit>; (cd ../before && npm ci && npm run build)
//   npm run bench:against -- ../before      ten rounds
//   npm run bench:against -- ../before 3    fewer

import { resolve } from 'node:path';
import { type Contender, measureCell } from '../support/cell.ts';
import { SVC_BINARY, SVC_JSON } from '../support/contenders.ts';
import { engineStage, measureHttp } from '../support/http-cell.ts';

const [other, rounds = '10'] = process.argv.slice(2);
if (other === undefined) throw new Error('Name the folder of the other checkout: npm run bench:against -- ../before');

const SPEC = { payloadBytes: 100, inFlight: 64, warmupMs: 4000, measureMs: 3000 };

/** What each round measures. Each measurement has fresh processes. */
const WORKLOADS: Readonly<Record<string, (folder: string) => Promise<Readonly<Record<string, number>>>>> = {
  'calls, binary form': (folder) => calls({ ...SVC_BINARY, folder }),
  'calls, JSON form': (folder) => calls({ ...SVC_JSON, folder }),
  'HTTP requests': async (folder) => {
    const figures = await measureHttp(engineStage('svc', 1, folder));
    return { 'per second': figures.requestsPerSecond, 'engine CPU µs': figures.cpuUs, 'p99 µs': figures.p99Us };
  },
};

const folders = { before: resolve(other), now: process.cwd() };
const rows = new Map<string, { before: number[]; now: number[] }>();
for (let round = 0; round < Number(rounds); round++) {
  for (const [workload, measure] of Object.entries(WORKLOADS)) {
    for (const side of round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)) {
      for (const [figure, value] of Object.entries(await measure(folders[side]))) {
        const key = `${workload} | ${figure}`;
        const row = rows.get(key) ?? { before: [], now: [] };
        row[side].push(value);
        rows.set(key, row);
      }
    }
  }
}

process.stdout.write('| workload | figure | before | now | ratio of the medians | median of the ratios by round |\n');
process.stdout.write('|---|---|---|---|---|---|\n');
for (const [key, { before, now }] of rows) {
  const byRound = now.map((value, round) => value / (before[round] ?? Number.NaN));
  const figures = [spread(before), spread(now), (median(now) / median(before)).toFixed(3), median(byRound).toFixed(3)];
  process.stdout.write(`| ${[key, ...figures].join(' | ')} |\n`);
}

async function calls(contender: Contender): Promise<Readonly<Record<string, number>>> {
  const cell = await measureCell(contender, SPEC);
  return {
    'per second': cell.callsPerSecond,
    'engine CPU µs': cell.serverCpuUs,
    'worker CPU µs': cell.responderCpuUs,
    'caller CPU µs': cell.callerCpuUs,
    'p99 µs': cell.p99Us,
  };
}

function spread(values: readonly number[]): string {
  const digits = median(values) < 100 ? 1 : 0;
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((one) =>
    one.toFixed(digits),
  );
  return `${middle} (${least} to ${most})`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
