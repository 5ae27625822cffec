// The cost of observability for a call: the same load on engines that observe nothing, keep no trace, a tenth of them,
// all, and all with payloads. All run at once and take turns of less than a second, so that a disturbance affects each
// of them: with turns of three seconds the ratio of two equal engines was between 0.8 and 1.2. They are started several
// times: equal engines differ by up to a tenth for as long as their processes live. Only the ratios count. Measured
// after the telemetry threads have warmed up.
//
//   node bench/load/observability.ts            5 starts; with a number, as many
//   node bench/load/observability.ts --quick one short round: shows that the bench runs

import { type CellResult, type Contender, type RunningCell, startCell } from '../support/cell.ts';
import { SVC_BARE, SVC_BINARY } from '../support/contenders.ts';

const isQuick = process.argv.includes('--quick');
const STARTS = isQuick ? 1 : Number(process.argv[2] ?? 5);
const ROUNDS = isQuick ? 1 : 7;
const LOAD = { payloadBytes: 100, inFlight: 64 };
const WARMUP = { ...LOAD, warmupMs: 0, measureMs: isQuick ? 100 : 4_000 };
/**
 * An engine that was idle needs some calls before it is at its speed again, and keeps twice as many traces in its first
 * second as in each of the following ones.
 */
const TURN = { ...LOAD, warmupMs: isQuick ? 50 : 400, measureMs: isQuick ? 300 : 600 };

const OFF = '{enabled: false, metrics_enabled: false, logs_enabled: false}';
const withRatio = (ratio: number): string =>
  `{enabled: true, exporter: memory, sampling_ratio: ${ratio}, metrics_enabled: true}`;

/** Targets of calls per second, as shares of the unobserved rate. */
const MODES = [
  { name: 'off', config: OFF, target: 1 },
  { name: 'ratio 0', config: withRatio(0), target: 0.97 },
  { name: 'ratio 0.1', config: withRatio(0.1), target: 0.95 },
  { name: 'ratio 1', config: withRatio(1), target: 0.8 },
  { name: 'ratio 1, payloads', config: withRatio(1).replace('}', ', payloads: all}'), target: undefined },
] as const;

process.stdout.write('| clients | mode | calls/s | of off | target | p99 | of off | engine CPU per call | of off |\n');
process.stdout.write('|---|---|---|---|---|---|---|---|---|\n');
for (const clients of [SVC_BINARY, SVC_BARE]) await compare(clients);

async function compare(clients: Contender): Promise<void> {
  const results = new Map<string, CellResult[]>(MODES.map(({ name }) => [name, []]));
  for (let start = 0; start < STARTS; start++) await measureStart(clients, results);
  const off = results.get('off') ?? [];
  for (const { name, target } of MODES) {
    const own = results.get(name) ?? [];
    const row = [clients.name, name, ...columns(own, off, target)];
    process.stdout.write(`| ${row.join(' | ')} |\n`);
  }
}

/** Fresh processes of every mode, in turn. */
async function measureStart(clients: Contender, results: ReadonlyMap<string, CellResult[]>): Promise<void> {
  const cells: { readonly name: string; readonly cell: RunningCell }[] = [];
  for (const { name, config } of MODES) {
    const cell = await startCell({ ...clients, server: [...(clients.server ?? []), config] });
    cells.push({ name, cell });
    await cell.run(WARMUP);
  }
  for (let round = 0; round < ROUNDS; round++) {
    // No mode always has the same one before it.
    const first = round % cells.length;
    for (const { name, cell } of [...cells.slice(first), ...cells.slice(0, first)]) {
      results.get(name)?.push(await cell.run(TURN));
    }
  }
  for (const { cell } of cells) await cell.stop();
}

function columns(own: readonly CellResult[], off: readonly CellResult[], target: number | undefined): string[] {
  const calls = medianOf(own, ({ callsPerSecond }) => callsPerSecond);
  const p99 = medianOf(own, ({ p99Us }) => p99Us);
  const cpu = medianOf(own, ({ serverCpuUs }) => serverCpuUs);
  return [
    calls.toFixed(0),
    ratio(own, off, ({ callsPerSecond }) => callsPerSecond),
    target === undefined ? '–' : `≥ ${target}`,
    `${p99.toFixed(0)} µs`,
    ratio(own, off, ({ p99Us }) => p99Us),
    `${cpu.toFixed(2)} µs`,
    ratio(own, off, ({ serverCpuUs }) => serverCpuUs),
  ];
}

/** Compares within a round: a disturbance longer than a cell affects both. */
function ratio(own: readonly CellResult[], off: readonly CellResult[], of: (result: CellResult) => number): string {
  const ratios = own.map((result, round) => {
    const base = off[round];
    return base === undefined ? Number.NaN : of(result) / of(base);
  });
  return median(ratios).toFixed(3);
}

function medianOf(results: readonly CellResult[], of: (result: CellResult) => number): number {
  return median(results.map(of));
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
