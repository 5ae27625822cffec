// What checking a large frame costs the router's thread: inline, and handed to the pool as
// `router/calls/large-frames.ts`
// does it (copy into shared memory, hop, picking the fields out). Medians of interleaved rounds.
//
//   npm run bench:scan-hop

import { makePayload } from '../bench/support/part.ts';
import { createPool } from '../src/effects/threads/pool.ts';
import { decodeLocatedFrame, decodeWorkerFrame } from '../src/protocol/frames/decode.ts';

const SIZES_KIB = [16, 64, 128, 256, 1024, 4096, 16_000];
const ROUNDS = 9;
const pool = createPool(2);

process.stdout.write(
  '| frame KiB | inline: router µs | pool: router µs | pool: µs until decoded |\n|---|---|---|---|\n',
);
for (const kib of SIZES_KIB) {
  const text = JSON.stringify({
    type: 'invokefunction',
    invocation_id: 'c1',
    function_id: 'bench::echo',
    data: makePayload(kib * 1024),
  });
  const frame = new Uint8Array(Buffer.from(text));
  const repeats = Math.max(3, Math.round(2048 / kib));
  const inline: number[] = [];
  const router: number[] = [];
  const total: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    inline.push(average(repeats, () => decodeWorkerFrame(frame)));
    for (let repeat = 0; repeat < repeats; repeat++) {
      const begun = performance.now();
      const shared = new Uint8Array(new SharedArrayBuffer(frame.length));
      shared.set(frame);
      const scanned = pool.scanFrame(shared.buffer);
      const handedOver = performance.now();
      const places = await scanned;
      const back = performance.now();
      decodeLocatedFrame(shared, places);
      const done = performance.now();
      router.push((handedOver - begun + done - back) * 1000);
      total.push((done - begun) * 1000);
    }
  }
  const row = [kib, median(inline).toFixed(0), median(router).toFixed(0), median(total).toFixed(0)];
  process.stdout.write(`| ${row.join(' | ')} |\n`);
}
await pool.close();

function average(repeats: number, work: () => unknown): number {
  const begun = performance.now();
  for (let repeat = 0; repeat < repeats; repeat++) work();
  return ((performance.now() - begun) * 1000) / repeats;
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
