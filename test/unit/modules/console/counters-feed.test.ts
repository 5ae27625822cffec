// What the rates of the console's counters are measured against.

import { expect, test } from 'vitest';
import { RateBase } from '../../../../src/modules/console/live/counters-feed.ts';

test('[DSH-2] two looks close together do not make a burst: the rate is measured over the longer time before', () => {
  const rates = new RateBase<number>(500);
  const rateAt = (atMs: number, value: number): number | undefined => {
    const base = rates.take({ atMs, value });
    return base && ((value - base.value) * 1_000) / (atMs - base.atMs);
  };
  expect(rateAt(0, 0)).toBeUndefined();
  expect(rateAt(1_000, 100)).toBe(100);
  // A batch of 40 that arrived 100 ms later: 400 a second against the last look, 127 against the one before it.
  expect(rateAt(1_100, 140)).toBeCloseTo(127, 0);
  // The 60 since then, over 900 ms.
  expect(rateAt(2_000, 200)).toBeCloseTo(67, 0);
  expect(rateAt(3_000, 300)).toBe(100);
});

test('nothing is compared with what was counted before the counting stopped', () => {
  const rates = new RateBase<number>(500);
  rates.take({ atMs: 0, value: 1_000 });
  rates.forget();
  expect(rates.take({ atMs: 1_000, value: 3 })).toBeUndefined();
});
