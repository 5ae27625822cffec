// Calls per second, latency and CPU per call: caller → engine → worker → back, with svc-sdk in both forms of the wire,
// and beside them the same relay on bare uWebSockets.js, in interleaved rounds of one run.
//
//   npm run bench:invoke            all cells, 5 rounds
//   npm run bench:invoke -- --quick one cell, one short round: proves that the bench runs

import { RAW_BATCH, RAW_RELAY, SVC_BARE, SVC_BINARY, SVC_JSON } from '../support/contenders.ts';
import { measureRounds, TABLE_HEADER, tableRow } from '../support/table.ts';

const isQuick = process.argv.includes('--quick');
const ROUNDS = isQuick ? 1 : 5;
const WARMUP_MS = isQuick ? 100 : 1000;
const MEASURE_MS = isQuick ? 200 : 2000;
const PAYLOADS = isQuick ? [100] : [100, 1024, 16 * 1024];
const IN_FLIGHT = isQuick ? [8] : [1, 64, 256];

process.stdout.write(TABLE_HEADER);
for (const payloadBytes of PAYLOADS) {
  for (const inFlight of IN_FLIGHT) {
    const spec = { payloadBytes, inFlight, warmupMs: WARMUP_MS, measureMs: MEASURE_MS };
    const results = await measureRounds([SVC_BINARY, SVC_JSON, SVC_BARE, RAW_BATCH, RAW_RELAY], spec, ROUNDS);
    for (const [name, result] of results) process.stdout.write(tableRow(spec, name, result));
  }
}
