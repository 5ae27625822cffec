// Calls per second, latency and CPU per call: caller → engine → worker → back, with svc-sdk in both forms of the wire,
// and the same relay on bare uWebSockets.js, in interleaved rounds of one run. Below the cells: the cost of the
// engine's own work in each form, against the raw batched relay of the same bytes.
//
//   node bench/load/invoke.ts            all cells, 5 rounds
//   node bench/load/invoke.ts 3       3 rounds
//   node bench/load/invoke.ts --quick one cell, one short round: shows that the bench runs

import { type Medians, measureRounds, TABLE_HEADER, tableRow } from '../report/table.ts';
import type { CellSpec } from '../support/cell.ts';
import { RAW_BATCH, RAW_RELAY, SVC_BARE, SVC_BINARY, SVC_JSON } from '../support/contenders.ts';

const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 1 : Number(process.argv[2] ?? 5);
const WARMUP_MS = isQuick ? 100 : 1000;
const MEASURE_MS = isQuick ? 200 : 2000;
const PAYLOADS = isQuick ? [100] : [100, 1024, 16 * 1024];
const IN_FLIGHT = isQuick ? [8] : [1, 64, 256];

const ratios: string[] = [];

process.stdout.write(TABLE_HEADER);
for (const payloadBytes of PAYLOADS) {
  for (const inFlight of IN_FLIGHT) {
    const spec = { payloadBytes, inFlight, warmupMs: WARMUP_MS, measureMs: MEASURE_MS };
    const results = await measureRounds([SVC_BINARY, SVC_JSON, SVC_BARE, RAW_BATCH, RAW_RELAY], spec, ROUNDS);
    for (const [name, result] of results) process.stdout.write(tableRow(spec, name, result));
    ratios.push(...ratioRows(spec, results));
  }
}
process.stdout.write(`\n| payload | in flight | engine CPU per call against the raw batched relay | µs | ratio |
|---|---|---|---|---|
${ratios.join('')}`);

/** The targets, 1.5 for the binary form and 5 for JSON, are those of 100 B with 64 in flight. */
function ratioRows({ payloadBytes, inFlight }: CellSpec, results: ReadonlyMap<string, Medians>): string[] {
  const floorUs = results.get(RAW_BATCH.name)?.serverCpuUs ?? Number.NaN;
  const forms = [
    ['binary form', SVC_BARE],
    ['JSON form', SVC_JSON],
  ] as const;
  return forms.map(([form, { name }]) => {
    const us = results.get(name)?.serverCpuUs ?? Number.NaN;
    const figures = `${us.toFixed(2)} / ${floorUs.toFixed(2)} | ${(us / floorUs).toFixed(2)}`;
    return `| ${payloadBytes} | ${inFlight} | ${form}, ${name} | ${figures} |\n`;
  });
}
