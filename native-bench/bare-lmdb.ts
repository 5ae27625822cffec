// What lmdb itself does, for the figures of the store to be held against: so many durable puts in one transaction after
// another, by `transactionSync`, and by `put` with so many callers waiting for `flushed`.
//
//   npm run bench:bare-lmdb

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';

const KEYS = 10_000;
const ROUND_MS = 1_000;
/** `npm run bench:bare-lmdb -- 3` for fewer. */
const ROUNDS = Number(process.argv[2] ?? 5);

const folder = mkdtempSync(join(tmpdir(), 'svc-bare-lmdb-'));
const db = open<Buffer, Buffer>({
  path: folder,
  noSubdir: false,
  mapSize: 64 * 1024 ** 3,
  overlappingSync: false,
  encoding: 'binary',
  keyEncoding: 'binary',
});
const value = Buffer.alloc(200, 65);
const keys = Array.from({ length: KEYS }, (_, index) => Buffer.from(`sscope\0key-${index}`));

process.stdout.write('| callers | transactionSync puts/s | put + flushed puts/s | ratio |\n|---|---|---|---|\n');
for (const callers of [1, 16, 64, 256]) {
  const sync: number[] = [];
  const async: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    sync.push(syncPuts(callers));
    async.push(await asyncPuts(callers));
  }
  const figures = [median(sync), median(async)];
  process.stdout.write(
    `| ${callers} | ${figures.map((figure) => figure.toFixed(0)).join(' | ')} | ` +
      `${(median(sync) / median(async)).toFixed(2)} |\n`,
  );
}
await db.close();
rmSync(folder, { recursive: true });

function keyAt(index: number): Buffer {
  return keys[index % KEYS] ?? value;
}

function syncPuts(callers: number): number {
  const begunMs = performance.now();
  let puts = 0;
  while (performance.now() - begunMs < ROUND_MS) {
    db.transactionSync(() => {
      for (let caller = 0; caller < callers; caller++) db.putSync(keyAt(puts + caller), value);
    });
    puts += callers;
  }
  return puts / ((performance.now() - begunMs) / 1_000);
}

async function asyncPuts(callers: number): Promise<number> {
  const begunMs = performance.now();
  let puts = 0;
  const putAgain = async (caller: number): Promise<void> => {
    for (let index = caller; performance.now() - begunMs < ROUND_MS; index += callers) {
      await db.put(keyAt(index), value);
      await db.flushed;
      puts++;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => putAgain(caller)));
  return puts / ((performance.now() - begunMs) / 1_000);
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
