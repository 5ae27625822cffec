// svc-sdk against NATS request/reply (official client, `noAsyncTraces`, JSON decoded and encoded on both sides) and
// against Moleculer over TCP, whose nodes talk directly. Needs Debian's nats-server.
//
//   node bench/load/rivals.ts

import { measureRounds, TABLE_HEADER, tableRow } from '../report/table.ts';
import { MOLECULER, NATS, SVC_BINARY } from '../support/contenders.ts';

/** `node bench/load/rivals.ts 3` for fewer. */
const ROUNDS = Number(process.argv[2] ?? 5);
const CELLS = [
  { payloadBytes: 100, inFlight: 1 },
  { payloadBytes: 100, inFlight: 64 },
  { payloadBytes: 100, inFlight: 256 },
  { payloadBytes: 1024, inFlight: 64 },
  { payloadBytes: 1024, inFlight: 256 },
];

const ratios: string[] = [];
process.stdout.write(TABLE_HEADER);
for (const cell of CELLS) {
  const spec = { ...cell, warmupMs: 1000, measureMs: 2000 };
  const results = await measureRounds([SVC_BINARY, NATS, MOLECULER], spec, ROUNDS);
  for (const [name, result] of results) process.stdout.write(tableRow(spec, name, result));
  const [ours, nats, moleculer] = [...results.values()];
  if (ours === undefined || nats === undefined || moleculer === undefined) throw new Error('A contender has no result');
  const rate = (other: typeof ours): string => (ours.callsPerSecond / other.callsPerSecond).toFixed(2);
  const delay = (other: typeof ours): string => (ours.p50Us / other.p50Us).toFixed(2);
  ratios.push(
    `| ${cell.payloadBytes} B, ${cell.inFlight} in flight | ${rate(nats)} | ${rate(moleculer)} | ${delay(nats)} |`,
  );
}
process.stdout.write('\n| cell | calls/s: svc : NATS | svc : Moleculer | p50: svc : NATS |\n|---|---|---|---|\n');
process.stdout.write(`${ratios.join('\n')}\n`);
