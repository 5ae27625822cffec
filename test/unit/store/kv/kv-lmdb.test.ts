import { expect, test } from 'vitest';
import { LmdbStore } from '../../../../src/store/kv/kv-lmdb.ts';
import { MemoryKv } from '../../../../src/store/kv/kv-memory.ts';
import { TemporaryFolder } from '../../../support/engine/temporary-folder.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

test('[S4] lmdb and memory list the same ranges, up and down, with offset and limit', () => {
  using folder = new TemporaryFolder();
  const store = new LmdbStore({ folder: folder.path });
  const memory = new MemoryKv();
  forEachSeed(20, (random) => {
    const key = () => Buffer.from(`s${random.pick(['a', 'b', 'c'])}\0${random.below(30)}`);
    store.write((kv) => {
      for (let change = random.below(30); change > 0; change--) {
        const at = key();
        const isRemoved = random.chance(30);
        for (const map of [kv, memory]) {
          if (isRemoved) map.remove(at);
          else map.put(at, Buffer.from(String(change)));
        }
      }
    });
    const [start = Buffer.of(0), end = start] = [key(), key()].sort(Buffer.compare);
    const options = {
      isReverse: random.chance(50),
      ...(random.chance(50) && { limit: random.between(1, 9) }),
      ...(random.chance(50) && { offset: random.below(5) }),
    };
    const listed = store.read((kv) => [...kv.range(start, end, options)].map(({ key, value }) => `${key}=${value}`));
    expect(listed).toEqual([...memory.range(start, end, options)].map(({ key, value }) => `${key}=${value}`));
    const keys = store.read((kv) => [...kv.keys(start, end)].map(String));
    expect(keys).toEqual([...memory.keys(start, end)].map(String));
    expect(keys).toEqual([...memory.range(start, end)].map(({ key }) => String(key)));
  });
  store.close();
});

test('[D6] A map that is too small grows', () => {
  using folder = new TemporaryFolder();
  const store = new LmdbStore({ folder: folder.path, mapBytes: 1024 * 1024 });
  const value = Buffer.alloc(10_000, 'x');
  store.write((kv) => {
    for (let index = 0; index < 1_000; index++) kv.put(Buffer.from(`s${index}`), value);
  });
  expect(store.read((kv) => [...kv.range(Buffer.from('s'), Buffer.from('t'))].length)).toBe(1_000);
  store.close();
});

test('[D1] A transaction that throws writes nothing', () => {
  using folder = new TemporaryFolder();
  const store = new LmdbStore({ folder: folder.path });
  const write = () =>
    store.write((kv) => {
      kv.put(Buffer.from('s1'), Buffer.from('v'));
      throw new Error('no');
    });
  expect(write).toThrow('no');
  expect(store.read((kv) => kv.get(Buffer.from('s1')))).toBeUndefined();
  store.close();
});

test('[D9] A value of more than 16 MiB is read unchanged', () => {
  using folder = new TemporaryFolder();
  const store = new LmdbStore({ folder: folder.path });
  const [key, value] = [Buffer.from('s1'), Buffer.alloc(17 * 1024 * 1024, 'svc')];
  store.write((kv) => kv.put(key, value));
  const read = store.read((kv) => [kv.get(key), ...[...kv.range(key, Buffer.from('s2'))].map((entry) => entry.value)]);
  expect(read.map((bytes) => bytes !== undefined && value.equals(bytes))).toEqual([true, true]);
  store.close();
});
