import { expect, test } from 'vitest';
import { type ClockReading, type SteadyReading, steadyTime } from '../../../../src/core/queue/steady-time.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

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

test('[Q4] Across a restart time follows the wall clock, and does not advance if that was set back', () => {
  const last = { run: 'a', monotonicMs: 77, wallMs: 5 * HOUR_MS, steadyMs: 9 * HOUR_MS };
  expect(steadyTime(last, { run: 'b', monotonicMs: 3, wallMs: 6 * HOUR_MS })).toBe(10 * HOUR_MS);
  expect(steadyTime(last, { run: 'b', monotonicMs: 3, wallMs: 4 * HOUR_MS })).toBe(9 * HOUR_MS);
});

test('[Q4] It starts as the wall clock, by which waits were kept before', () => {
  expect(steadyTime(undefined, { run: 'a', monotonicMs: 3, wallMs: 42 })).toBe(42);
});
