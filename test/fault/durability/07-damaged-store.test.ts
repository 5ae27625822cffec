// Fault 7: a store that differs from what was written: torn, flipped, zeroed, heads swapped. It is refused and left
// unchanged, or every value in it is right: never a wrong one, never a missing one.

import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DATA_FILE, FORMAT_FILE } from '../../../src/store/directory/store-folder.ts';
import { joinKey, SPACE } from '../../../src/store/kv/keys.ts';
import type { Kv, KvStore } from '../../../src/store/kv/kv.ts';
import { openStore } from '../../../src/store/kv/open-store.ts';
import { directory } from '../../support/engine/running-store.ts';
import { TemporaryFolder } from '../../support/engine/temporary-folder.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { rounds } from '../../support/load/fault-tools.ts';
import { forEachSeed, type SeededRandom } from '../../support/random/seeded-random.ts';

const ROUNDS = rounds(150) * (process.env.SVC_FAULT_ROUNDS === undefined ? 1 : 10);
const PAGE = 4096;

test('[R5] [D9] [fault 7] A damaged store is refused and left untouched, or every value in it is right', {
  timeout: 600_000,
}, () => {
  const line = faultLine('7', 'torn and flipped store', 'wrong values=0');
  using folder = new TemporaryFolder();
  const sound = join(folder.path, 'sound');
  const values = fillStore(sound);
  let refused = 0;
  forEachSeed(ROUNDS, (random) => {
    const copy = join(folder.path, 'copy');
    rmSync(copy, { recursive: true, force: true });
    mkdirSync(copy);
    for (const file of [DATA_FILE, FORMAT_FILE]) copyFileSync(join(sound, file), join(copy, file));
    damage(join(copy, DATA_FILE), random);
    const before = readFileSync(join(copy, DATA_FILE));
    const opened = open(copy);
    if (opened.ok) {
      expect(readAll(opened.store, values)).toEqual([]);
      opened.close();
      return;
    }
    refused++;
    expect(opened.message).toMatch(/is damaged|cannot be opened/);
    expect(opened.message).toMatch(/Nothing in it was changed/);
    expect(readFileSync(join(copy, DATA_FILE)).equals(before)).toBe(true);
  });
  line.figure = `wrong values=0,refused=${refused} of ${ROUNDS}`;
  expect(refused).toBeGreaterThan(ROUNDS / 4);
});

test('[R5] [fault 7] An intact store is never taken for a damaged one', { timeout: 120_000 }, () => {
  const line = faultLine('7', 'sound store', `opened=${4 * rounds(8)}`);
  let opens = 0;
  forEachSeed(rounds(8), (random) => {
    using folder = new TemporaryFolder();
    const values = new Map<string, Buffer>();
    for (let start = 0; start < 4; start++) {
      const opened = open(folder.path);
      if (!opened.ok) throw new Error(opened.message);
      expect(readAll(opened.store, values)).toEqual([]);
      line.figure = `opened=${++opens}`;
      for (let batch = random.below(30); batch > 0; batch--) opened.store.write((kv) => changeSome(kv, values, random));
      opened.close();
    }
  });
});

function open(folder: string) {
  return openStore({ location: directory(folder, 0), newEpoch: 'epoch' });
}

const keyOf = (name: string): Buffer => joinKey(SPACE.state, Buffer.from('scope'), Buffer.from(name));

function fillStore(folder: string): Map<string, Buffer> {
  const opened = open(folder);
  if (!opened.ok) throw new Error(opened.message);
  const values = new Map<string, Buffer>();
  for (let batch = 0; batch < 10; batch++) {
    opened.store.write((kv) => {
      for (let index = 0; index < 60; index++) {
        const name = `key-${batch}-${index}`;
        const value = Buffer.from(JSON.stringify(name.repeat(index === 0 ? 2_000 : 1 + (index % 20))));
        values.set(name, value);
        kv.put(keyOf(name), value);
      }
    });
  }
  opened.close();
  return values;
}

function changeSome(kv: Kv, values: Map<string, Buffer>, random: SeededRandom) {
  for (let change = random.between(1, 200); change > 0; change--) {
    const name = `${random.below(500)}-${'k'.repeat(random.below(60))}`;
    if (random.chance(35)) {
      values.delete(name);
      kv.remove(keyOf(name));
    } else {
      const value = Buffer.alloc(random.chance(3) ? random.below(200_000) : random.below(900), name);
      values.set(name, value);
      kv.put(keyOf(name), value);
    }
  }
}

/** Names whose value is not what was written. A record that is reported as damaged is right. */
function readAll(store: Pick<KvStore, 'read'>, values: ReadonlyMap<string, Buffer>): string[] {
  const isRight = (name: string, value: Buffer): boolean => {
    const found = store.read((kv) => kv.get(keyOf(name)));
    return found !== undefined && value.equals(found);
  };
  return [...values].filter(([name, value]) => !isRight(name, value)).map(([name]) => name);
}

function damage(file: string, random: SeededRandom): void {
  const bytes = readFileSync(file);
  const pages = bytes.length / PAGE;
  const page = random.below(pages) * PAGE;
  switch (random.below(5)) {
    case 0:
      return truncateSync(file, page + random.pick([0, 0, random.below(PAGE)]));
    case 1:
      bytes.fill(0, page, page + PAGE);
      break;
    case 2: {
      const first = Buffer.from(bytes.subarray(0, PAGE));
      bytes.copy(bytes, 0, PAGE, 2 * PAGE);
      first.copy(bytes, PAGE);
      break;
    }
    case 3:
      // The heads are small and matter most.
      flip(bytes, random.below(2) * PAGE + random.below(168), random);
      break;
    default:
      flip(bytes, random.below(bytes.length), random);
  }
  writeFileSync(file, bytes);
}

function flip(bytes: Buffer, at: number, random: SeededRandom): void {
  bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
}
