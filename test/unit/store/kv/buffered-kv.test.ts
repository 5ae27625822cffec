import { expect, test } from 'vitest';
import { BufferedKv } from '../../../../src/store/kv/buffered-kv.ts';
import type { Kv } from '../../../../src/store/kv/kv.ts';
import { MemoryKv } from '../../../../src/store/kv/kv-memory.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

test('[S2] A command reads its own writes, and none of them reaches the store before it ends', () => {
  forEachSeed(200, (random) => {
    const below = new MemoryKv();
    for (let entry = random.below(30); entry > 0; entry--) below.put(key(random), value(random));
    const before = entriesOf(below);
    const reference = new MemoryKv();
    for (const [name, text] of before) reference.put(Buffer.from(name), Buffer.from(text));
    const buffered = new BufferedKv(below);
    for (let step = random.below(40); step > 0; step--) {
      const at = key(random);
      const text = value(random);
      if (random.chance(40)) expect(buffered.remove(at)).toBe(reference.remove(at));
      else for (const kv of [buffered, reference]) kv.put(at, text);
      const probe = key(random);
      expect(String(buffered.get(probe))).toBe(String(reference.get(probe)));
      expectSameRange(buffered, reference, random);
    }
    expect(entriesOf(below)).toEqual(before);
    if (random.chance(50)) {
      buffered.discard();
      expect(entriesOf(buffered)).toEqual(before);
    } else {
      buffered.apply();
      expect(entriesOf(below)).toEqual(entriesOf(reference));
    }
  });
});

function expectSameRange(one: Kv, other: Kv, random: SeededRandom): void {
  const bounds = [key(random), key(random)].sort(Buffer.compare);
  const [start = Buffer.alloc(0), end = start] = bounds;
  const options = { limit: random.below(6), offset: random.below(4), isReverse: random.chance(50) };
  const texts = (kv: Kv) => [...kv.range(start, end, options)].map(({ key, value }) => `${key}=${value}`);
  expect(texts(one)).toEqual(texts(other));
  expect([...one.keys(start, end)].map(String)).toEqual([...other.keys(start, end)].map(String));
}

function entriesOf(kv: Kv): [string, string][] {
  return [...kv.range(Buffer.of(0), Buffer.of(0xff))].map(({ key, value }) => [String(key), String(value)]);
}

function key(random: SeededRandom): Buffer {
  return Buffer.from(`k${random.below(40)}`);
}

function value(random: SeededRandom): Buffer {
  return Buffer.from(`v${random.below(1_000)}`);
}
