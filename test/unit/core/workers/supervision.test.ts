import { describe, expect, test } from 'vitest';
import {
  CRASH_WINDOW_MS,
  CRASHES_MAX,
  CrashHistory,
  DELAY_MS_MAX,
  FIRST_DELAY_MS,
  GOOD_START_MS,
} from '../../../../src/core/workers/supervision.ts';

const delayOf = (history: CrashHistory, nowMs: number, ranMs = 0) => {
  const next = history.ended(nowMs, ranMs);
  return next.verb === 'restart' ? next.delayMs : next.verb;
};

describe('a worker that ends by itself', () => {
  test('is restarted, with a wait that doubles up to half a minute', () => {
    const history = new CrashHistory();
    const hour = 3_600_000;
    const delays = Array.from({ length: 9 }, (_, index) => delayOf(history, index * hour));
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(DELAY_MS_MAX).toBe(30_000);
  });

  test('is restarted after the shortest wait again once it ran for a minute', () => {
    const history = new CrashHistory();
    delayOf(history, 0);
    delayOf(history, 1);
    expect(delayOf(history, 100_000, GOOD_START_MS)).toBe(FIRST_DELAY_MS);
    expect(delayOf(history, 200_000, GOOD_START_MS - 1)).toBe(2 * FIRST_DELAY_MS);
  });

  test('is given up after the tenth end within five minutes', () => {
    const history = new CrashHistory();
    for (let end = 1; end < CRASHES_MAX; end++) expect(delayOf(history, end)).not.toBe('give_up');
    expect(delayOf(history, CRASHES_MAX)).toBe('give_up');
  });

  test('is not given up if its ends are further apart', () => {
    const history = new CrashHistory();
    for (let end = 0; end < 50; end++) {
      expect(delayOf(history, (end * CRASH_WINDOW_MS) / (CRASHES_MAX - 2))).not.toBe('give_up');
    }
  });

  test('has a fresh count after a user starts it', () => {
    const history = new CrashHistory();
    for (let end = 1; end < CRASHES_MAX; end++) delayOf(history, end);
    history.forget();
    expect(delayOf(history, CRASHES_MAX)).toBe(FIRST_DELAY_MS);
  });
});
