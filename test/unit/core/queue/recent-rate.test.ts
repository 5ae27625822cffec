import { expect, test } from 'vitest';
import { RecentRate } from '../../../../src/core/queue/recent-rate.ts';

test('[QUE-1] A rate counts the events of the last ten seconds', () => {
  const rate = new RecentRate();
  for (let second = 0; second < 10; second++) for (let job = 0; job < 5; job++) rate.add(50_000 + second * 1_000);
  expect(rate.perSecond(59_500)).toBe(5);
  expect(rate.perSecond(63_000)).toBe(3);
});

test('[QUE-1] A rate falls to zero without events, and restarts after a long pause', () => {
  const rate = new RecentRate();
  rate.add(1_000);
  expect(rate.perSecond(11_000)).toBe(0);
  rate.add(101_000);
  expect(rate.perSecond(101_000)).toBe(0.1);
});
