import { expect, test } from 'vitest';
import { steadyTime } from '../../../src/protocol/steady-time.ts';
import { forEachSeed } from '../../support/random/seeded-random.ts';

/** A wall clock that shows whole milliseconds of `trueMs`, and a monotonic one with fractions. */
function clocks(startMs: number) {
  let trueMs = startMs;
  let setBackMs = 0;
  return {
    pass: (ms: number) => {
      trueMs += ms;
    },
    setBack: (ms: number) => {
      setBackMs += ms;
    },
    shownMs: () => trueMs - setBackMs,
    time: steadyTime(
      () => Math.floor(trueMs - setBackMs),
      () => trueMs - startMs,
    ),
  };
}

test('[TRC-5] A time has fractions of a millisecond, never differs from the clock by one, and comes close to it', () => {
  forEachSeed(20, (random) => {
    const { pass, shownMs, time } = clocks(1_000 + (random.bits() % 1_000) / 1_000);
    for (let at = 0; at < 1_000; at++) {
      pass((random.bits() % 10_000) / 1_000);
      expect(Math.abs(time() - shownMs())).toBeLessThan(1);
    }
    expect(Math.abs(time() - shownMs())).toBeLessThan(0.05);
  });
});

test('A clock that is set is followed at once', () => {
  const { pass, setBack, shownMs, time } = clocks(100_000.5);
  time();
  for (const ms of [60_000, -120_000]) {
    setBack(ms);
    pass(0.25);
    expect(Math.abs(time() - shownMs())).toBeLessThan(1);
  }
});
