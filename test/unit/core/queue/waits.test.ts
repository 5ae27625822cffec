import { describe, expect, test } from 'vitest';
import {
  type ClockReading,
  deliveriesMax,
  fitWaits,
  retryDelayMs,
  type SteadyReading,
  steadyTime,
  totalWaitMs,
} from '../../../../src/core/queue/waits.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

describe('the wait after a failed attempt', () => {
  test('[Q4] doubles from the base, as the documented table for 2000 ms shows', () => {
    const rules = { maxRetries: 5, backoffMs: 2_000, isExponential: true };
    expect([1, 2, 3, 4, 5, 6].map((attempt) => retryDelayMs(rules, attempt))).toEqual([
      2_000,
      4_000,
      8_000,
      16_000,
      32_000,
      undefined,
    ]);
  });

  test('[Q4] is at most an hour', () => {
    const rules = { maxRetries: 100, backoffMs: 3_000, isExponential: true };
    for (const attempt of [12, 50, 100]) expect(retryDelayMs(rules, attempt)).toBe(3_600_000);
  });

  test('[Q4] has the highest limit with which all waits of a job fit a given time', () => {
    forEachSeed(300, (random) => {
      const rules = { maxRetries: random.below(101), backoffMs: random.below(3_600_001), isExponential: true };
      const totalMsMax = random.below(10_000_000);
      const fitted = fitWaits(rules, totalMsMax);
      expect(totalWaitMs(fitted)).toBeLessThanOrEqual(totalMsMax);
      if (totalWaitMs(rules) <= totalMsMax) expect(fitted).toBe(rules);
      else expect(totalWaitMs({ ...rules, waitMsMax: (fitted.waitMsMax ?? 0) + 1 })).toBeGreaterThan(totalMsMax);
    });
  });

  test('is constant with a fixed backoff', () => {
    const rules = { maxRetries: 3, backoffMs: 700, isExponential: false };
    expect([1, 2, 3].map((attempt) => retryDelayMs(rules, attempt))).toEqual([700, 700, 700]);
  });
});

test('[Q6] The limit of hand-overs is five times the limit of attempts', () => {
  expect(deliveriesMax(3)).toBe(9);
});

const HOUR_MS = 3_600_000;

/** The reading that is kept. */
const kept = (last: SteadyReading | undefined, now: ClockReading): SteadyReading => ({
  ...now,
  steadyMs: steadyTime(last, now),
});

test('[Q4] While an engine runs, time follows the monotonic clock, whatever the wall clock is set to', () => {
  forEachSeed(100, (random) => {
    let [wallMs, monotonicMs] = [1_000 * HOUR_MS, random.below(1_000)];
    let last = kept(undefined, { run: 'a', monotonicMs, wallMs });
    const [beganMs, beganMonotonicMs] = [last.steadyMs, monotonicMs];
    for (let step = 0; step < 50; step++) {
      const passedMs = random.below(2_000);
      monotonicMs += passedMs;
      wallMs += passedMs;
      if (random.chance(20)) wallMs += random.pick([-24, -1, 1, 24]) * HOUR_MS;
      last = kept(last, { run: 'a', monotonicMs, wallMs });
      expect(last.steadyMs - beganMs).toBe(monotonicMs - beganMonotonicMs);
    }
  });
});

test('[Q4] Across a restart, time follows the wall clock, and stops while that is set back', () => {
  const last = { run: 'a', monotonicMs: 77, wallMs: 5 * HOUR_MS, steadyMs: 9 * HOUR_MS };
  expect(steadyTime(last, { run: 'b', monotonicMs: 3, wallMs: 6 * HOUR_MS })).toBe(10 * HOUR_MS);
  expect(steadyTime(last, { run: 'b', monotonicMs: 3, wallMs: 4 * HOUR_MS })).toBe(9 * HOUR_MS);
});

test('[Q4] A new clock starts at the time of the wall clock', () => {
  expect(steadyTime(undefined, { run: 'a', monotonicMs: 3, wallMs: 42 })).toBe(42);
});
