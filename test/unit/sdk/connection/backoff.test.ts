import { describe, expect, test } from 'vitest';
import { redialDelayMs, retryDelayMs } from '../../../../src/sdk/connection/backoff.ts';

const most = () => 0.999_999;
const least = () => 0;

describe('the wait before the next dial', () => {
  test('[W4] the maximum starts at half a second, doubles with every failure and stays at 15 seconds', () => {
    const ceilings = [1, 2, 3, 4, 5, 6, 7, 100, 100_000].map((failures) =>
      Math.ceil(redialDelayMs(failures, false, most)),
    );
    expect(ceilings).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000, 15_000]);
  });

  test('[W5] an engine that limits connections per second is dialled again within 4 seconds', () => {
    const ceilings = [1, 2, 3, 4, 5, 100].map((failures) => Math.ceil(redialDelayMs(failures, true, most)));
    expect(ceilings).toEqual([500, 1000, 2000, 4000, 4000, 4000]);
  });

  test('[W4] the jitter is full: a wait may be anything from zero to the maximum', () => {
    expect(redialDelayMs(6, false, least)).toBe(0);
    expect(redialDelayMs(6, false, () => 0.5)).toBe(7_500);
  });
});

describe('the wait before the next attempt of a call', () => {
  test('[SDK-12] the pause doubles per failed attempt, is never under half of that, and is limited to a minute', () => {
    expect([1, 2, 3].map((failures) => retryDelayMs(100, failures, least))).toEqual([50, 100, 200]);
    expect([1, 2, 3].map((failures) => Math.ceil(retryDelayMs(100, failures, most)))).toEqual([100, 200, 400]);
    expect(Math.ceil(retryDelayMs(100, 50, most))).toBe(60_000);
  });
});
