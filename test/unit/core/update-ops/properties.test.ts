import { expect, test } from 'vitest';
import { type JsonValue, parseExactJson } from '../../../../src/core/calls/exact-json.ts';
import { applyUpdates } from '../../../../src/core/update-ops/index.ts';
import { randomOps, randomValue } from '../../../support/random/random-updates.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

const RUNS = 400;

test('[S2] Several operations in one call give the same value as one call for each', () => {
  forEachSeed(RUNS, (random) => {
    const old = random.chance(10) ? undefined : randomValue(random);
    const ops = randomOps(random, random.between(1, 12));
    const together = applyUpdates(old, ops);
    let value = old;
    const failed = ops.flatMap((op, index) => {
      const { newValue, errors } = applyUpdates(value, [op]);
      value = newValue;
      return errors.map((error) => ({ ...error, op_index: index }));
    });
    expect(JSON.stringify(together.newValue)).toBe(JSON.stringify(value));
    expect(together.errors).toEqual(failed);
  });
});

test('[S2] A failed operation has no effect', () => {
  forEachSeed(RUNS, (random) => {
    const old = random.chance(10) ? undefined : randomValue(random);
    const ops = randomOps(random, random.between(1, 12));
    const { newValue, errors, appliedCount, hasChanged } = applyUpdates(old, ops);
    const good = ops.filter((_, index) => !errors.some(({ op_index }) => op_index === index));
    const again = applyUpdates(old, good);
    expect(JSON.stringify(again.newValue)).toBe(JSON.stringify(newValue));
    expect([again.errors, again.appliedCount, again.hasChanged]).toEqual([[], appliedCount, hasChanged]);
  });
});

test('[S2] Without a change, the same value is returned', () => {
  forEachSeed(RUNS, (random) => {
    const old = randomValue(random);
    const { newValue, hasChanged } = applyUpdates(old, randomOps(random, 2));
    if (!hasChanged) expect(newValue).toBe(old);
  });
});

test('[S2] The old value and the operations do not change', () => {
  forEachSeed(RUNS, (random) => {
    const old = frozen(randomValue(random));
    const ops = frozen(randomOps(random, random.between(1, 12)));
    const before = JSON.stringify([old, ops]);
    applyUpdates(old, ops);
    expect(JSON.stringify([old, ops])).toBe(before);
  });
});

test('[S3] Increments and decrements add up, in any order', () => {
  forEachSeed(RUNS, (random) => {
    const steps = Array.from({ length: random.between(1, 100) }, () => random.below(2_000_000) - 1_000_000);
    const ops = steps.map((by) => (random.chance(50) ? { type: 'increment', by } : { type: 'decrement', by: 0 - by }));
    const sum = steps.reduce((total, by) => total + by, 0);
    expect(applyUpdates(7, random.shuffle(ops)).newValue).toBe(7 + sum);
  });
});

test('[X19] No operation changes a prototype', () => {
  const keysBefore = Reflect.ownKeys(Object.prototype);
  forEachSeed(RUNS, (random) => {
    const { newValue } = applyUpdates(randomValue(random), randomOps(random, 20));
    expectPlain(newValue);
  });
  expect(Reflect.ownKeys(Object.prototype)).toEqual(keysBefore);
});

test('[S6] A new value is equal after it is written and read', () => {
  forEachSeed(RUNS, (random) => {
    const big = JSON.parse(JSON.stringify({ n: 1 }), () => JSON.rawJSON('123456789012345678901234567890'));
    const { newValue } = applyUpdates(randomValue(random), [...randomOps(random, 10), { type: 'set', value: { big } }]);
    const text = JSON.stringify(newValue);
    expect(JSON.stringify(parseExactJson(text))).toBe(text);
    expect(text).toContain('123456789012345678901234567890');
  });
});

function expectPlain(value: JsonValue | undefined): void {
  if (typeof value !== 'object' || value === null) return;
  expect([Object.prototype, Array.prototype]).toContain(Object.getPrototypeOf(value));
  for (const item of Object.values(value)) expectPlain(item);
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const item of Object.values(value)) frozen(item);
  return Object.freeze(value);
}
