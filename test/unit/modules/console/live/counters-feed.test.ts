// The base of the rates of the console's counters.

import { expect, test } from 'vitest';
import { RateBase } from '../../../../../src/modules/console/live/counters-feed.ts';

test('[DSH-2] a rate is measured over at least half a second', () => {
  const rates = new RateBase<number>(500);
  const rateAt = (atMs: number, value: number): number | undefined => {
    const base = rates.take({ atMs, value });
    return base && ((value - base.value) * 1_000) / (atMs - base.atMs);
  };
  expect(rateAt(0, 0)).toBeUndefined();
  expect(rateAt(1_000, 100)).toBe(100);
  // A batch of 40 arrives 100 ms later: 400 a second since the last measurement, 127 since the one before.
  expect(rateAt(1_100, 140)).toBeCloseTo(127, 0);
  // The 60 since then, over 900 ms.
  expect(rateAt(2_000, 200)).toBeCloseTo(67, 0);
  expect(rateAt(3_000, 300)).toBe(100);
});

test('after a pause of the counting, no rate is reported until the second measurement', () => {
  const rates = new RateBase<number>(500);
  rates.take({ atMs: 0, value: 1_000 });
  rates.forget();
  expect(rates.take({ atMs: 1_000, value: 3 })).toBeUndefined();
});
