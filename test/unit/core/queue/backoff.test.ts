import { describe, expect, test } from 'vitest';
import { deliveriesMax, retryDelayMs } from '../../../../src/core/queue/backoff.ts';

describe('the wait after a failed attempt', () => {
  test('[Q4] doubles from the base on: 2000 gives the documented table', () => {
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

  test('[Q4] is an hour at most', () => {
    const rules = { maxRetries: 100, backoffMs: 3_000, isExponential: true };
    for (const attempt of [12, 50, 100]) expect(retryDelayMs(rules, attempt)).toBe(3_600_000);
  });

  test('stays the same where the backoff is fixed', () => {
    const rules = { maxRetries: 3, backoffMs: 700, isExponential: false };
    expect([1, 2, 3].map((attempt) => retryDelayMs(rules, attempt))).toEqual([700, 700, 700]);
  });
});

test('[Q6] A job may be handed over five times more often than it may fail', () => {
  expect(deliveriesMax(3)).toBe(9);
});
