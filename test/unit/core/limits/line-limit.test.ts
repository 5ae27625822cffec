import { expect, test } from 'vitest';
import { LineLimit } from '../../../../src/core/limits/line-limit.ts';

const LIMITS = { perSecond: 20, kindsMax: 3, totalPerSecond: 50 };

test('Each kind has 20 lines per second, and a second begins with its first line', () => {
  const limit = new LineLimit(LIMITS, 'others');
  expect(takes(limit, 'a', 30, 0)).toBe(20);
  expect(takes(limit, 'b', 5, 999)).toBe(5);
  expect(limit.takeLeftOut(999)).toEqual([]);
  expect(takes(limit, 'a', 30, 1_000)).toBe(20);
  expect(limit.takeLeftOut(1_000)).toEqual([{ kind: 'a', count: 10 }]);
  expect(limit.hasLeftOut).toBe(true);
  expect(limit.takeLeftOut(2_000)).toEqual([{ kind: 'a', count: 10 }]);
  expect(limit.hasLeftOut).toBe(false);
});

test('Kinds over the limit of kinds share one count', () => {
  const limit = new LineLimit({ ...LIMITS, totalPerSecond: 1_000 }, 'others');
  let written = 0;
  for (let kind = 0; kind < 10_000; kind++) written += takes(limit, `kind ${kind}`, 1, 0);
  expect(written).toBe(3 + 20);
  expect(limit.kindCount).toBe(3);
  expect(limit.takeLeftOut(1_000)).toEqual([{ kind: 'others', count: 10_000 - 23 }]);
  expect(limit.kindCount).toBe(0);
});

test('A kind with few lines is printed when others have used up the common limit', () => {
  const limit = new LineLimit(LIMITS, 'others');
  expect(takes(limit, 'a', 100, 0) + takes(limit, 'b', 100, 0) + takes(limit, 'c', 100, 0)).toBe(50);
  expect(takes(limit, 'd', 5, 0)).toBe(2);
});

test('A kind is cut to 256 characters', () => {
  const limit = new LineLimit(LIMITS, 'others');
  takes(limit, 'x'.repeat(1_000_000), 21, 0);
  expect(limit.takeLeftOut(1_000)).toEqual([{ kind: 'x'.repeat(256), count: 1 }]);
});

test('Untaken counts take bounded memory, and their sum is exact', () => {
  const limit = new LineLimit(LIMITS, 'others');
  for (let second = 0; second < 100; second++) takes(limit, `kind ${second}`, 21, second * 1_000);
  const leftOut = limit.takeLeftOut(100_000);
  expect(leftOut.length).toBeLessThanOrEqual(LIMITS.kindsMax + 1);
  expect(leftOut.reduce((sum, { count }) => sum + count, 0)).toBe(100);
});

function takes(limit: LineLimit, kind: string, count: number, nowMs: number): number {
  let taken = 0;
  for (let line = 0; line < count; line++) if (limit.take(kind, nowMs)) taken++;
  return taken;
}
