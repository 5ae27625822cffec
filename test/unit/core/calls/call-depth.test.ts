import { describe, expect, test } from 'vitest';
import { depthOf, withBaggageEntry, withDepth } from '../../../../src/core/calls/call-depth.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('the depth of a caller', () => {
  test.each([
    [undefined, 0],
    ['', 0],
    ['svc.depth=7', 7],
    ['a=1,svc.depth=7', 7],
    ['a=1, svc.depth=7', 7],
    ['a=1 ,  svc.depth=7,b=2', 7],
    ['svc.depth=7;hidden=1', 7],
    ['svc.depth=64', 64],
    ['svc.depth=99999999999999999999', 1e20],
    ['xsvc.depth=7', 0],
    ['a=svc.depth=7', 0],
    ['a=xsvc.depth=7,svc.depth=3', 3],
    ['svc.depth=', 0],
    ['svc.depth=abc', 0],
    ['svc.depth=-5', 0],
    ['svc.depth', 0],
  ])('[I8] The baggage %j gives depth %d', (baggage, depth) => {
    expect(depthOf(baggage)).toBe(depth);
  });
});

describe('the depth sent to the worker', () => {
  test.each([
    [undefined, 'svc.depth=1'],
    ['', 'svc.depth=1'],
    ['a=1', 'a=1,svc.depth=1'],
    ['svc.depth=7', 'svc.depth=1'],
    ['a=1,svc.depth=7,b=2', 'a=1,svc.depth=1,b=2'],
    ['a=1, svc.depth=7;x=y, b=2', 'a=1, svc.depth=1, b=2'],
    ['xsvc.depth=7', 'xsvc.depth=7,svc.depth=1'],
  ])('[I8] It is set in the baggage %j, and other entries do not change', (baggage, changed) => {
    expect(withDepth(baggage, 1)).toBe(changed);
  });

  test('[I8] It and all other entries can be read back', () => {
    forEachSeed(100, (random) => {
      const names = ['a', 'svc.depthx', 'xsvc.depth', 'user.id', 'k'];
      const entries = Array.from({ length: random.below(6) }, () => `${random.pick(names)}=${random.below(100)}`);
      const place = random.below(entries.length + 1);
      const separator = random.pick([',', ', ', ' ,  ']);
      const all = [...entries.slice(0, place), `svc.depth=${random.below(200)}`, ...entries.slice(place)];
      const depth = random.below(64);
      const changed = withDepth(all.join(separator), depth);
      expect(depthOf(changed)).toBe(depth);
      const parts = changed.split(',').map((entry) => entry.trim());
      expect(parts.filter((entry) => !entry.startsWith('svc.depth='))).toEqual(entries);
    });
  });
});

describe('the name of the function in the baggage', () => {
  test('[wire 5.5] It is one entry, escaped, and replaces an older one', () => {
    const first = withBaggageEntry('a=1', 'svc.function.id', 'math::add');
    expect(first).toBe('a=1,svc.function.id=math%3A%3Aadd');
    expect(withBaggageEntry(first, 'svc.function.id', 'x, y=ü')).toBe('a=1,svc.function.id=x%2C%20y%3D%C3%BC');
  });
});
