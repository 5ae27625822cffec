import { describe, expect, test } from 'vitest';
import { joinKey, keysBelow, partsOf, SPACE } from '../../../../src/store/kv/keys.ts';
import {
  copyOfRecord,
  DamagedRecord,
  openRecord,
  RECORD_OVERHEAD_BYTES,
  sealRecord,
  writtenMsOf,
} from '../../../../src/store/kv/record.ts';
import { forEachFixedSeed, forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

describe('a record', () => {
  test('[D9] It is read unchanged under its own key', () => {
    forEachSeed(50, (random) => {
      const key = bytes(random, random.between(1, 60));
      const value = bytes(random, random.below(300));
      for (const writtenMs of [undefined, random.below(2 ** 31) * 1_000]) {
        const record = sealRecord(key, value, writtenMs);
        expect(openRecord(key, record).equals(value)).toBe(true);
        expect(copyOfRecord(key, record).equals(value)).toBe(true);
        expect(writtenMsOf(record)).toBe(writtenMs);
      }
    });
  });

  test('[D9] A flipped bit, a missing end and another key are detected', () => {
    forEachFixedSeed(200, (random) => {
      const key = bytes(random, random.between(1, 20));
      const record = sealRecord(key, bytes(random, random.below(100)), random.pick([undefined, 1_795_000_000_000]));
      const flipped = Buffer.from(record);
      const at = random.below(record.length);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      expect(() => openRecord(key, flipped)).toThrow(DamagedRecord);
      expect(() => openRecord(key, record.subarray(0, random.below(record.length)))).toThrow(DamagedRecord);
      expect(() => openRecord(Buffer.concat([key, key]), record)).toThrow(DamagedRecord);
    });
  });

  test('[D10] A record of a later format is refused', () => {
    const record = sealRecord(Buffer.from('k'), Buffer.from('v'));
    record[record.length - 1] = 3;
    expect(() => openRecord(Buffer.from('k'), record)).toThrow('unknown format 3');
    expect(record.length).toBe(1 + RECORD_OVERHEAD_BYTES);
  });
});

describe('keys', () => {
  test('They sort like their parts, and are read back', () => {
    forEachSeed(100, (random) => {
      const entries = Array.from({ length: 20 }, () => [name(random), name(random)] as const);
      const keys = entries.map(([scope, key]) => joinKey(SPACE.state, Buffer.from(scope), Buffer.from(key)));
      const byParts = [...entries].sort(([a, b], [c, d]) => compare(a, c) || compare(b, d));
      const byKeys = [...keys].sort(Buffer.compare);
      expect(byKeys.map((key) => partsOf(key).map(String))).toEqual(byParts);
    });
  });

  test('A range contains exactly the keys that start with its parts', () => {
    const { start, end } = keysBelow(SPACE.state, Buffer.from('a'));
    const isWithin = (...parts: string[]): boolean => {
      const key = joinKey(SPACE.state, ...parts.map((part) => Buffer.from(part)));
      return Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0;
    };
    expect(['x', '', '\uffff', ' '].map((key) => isWithin('a', key))).toEqual([true, true, true, true]);
    expect(['aa', 'a ', '', 'b'].map((scope) => isWithin(scope, 'x'))).toEqual([false, false, false, false]);
    expect(isWithin('a')).toBe(false);
  });
});

function bytes(random: SeededRandom, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.below(256)));
}

function name(random: SeededRandom): string {
  return Array.from({ length: random.between(1, 4) }, () => random.pick(['a', 'b', ' ', 'é', '😀', '~'])).join('');
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
