import { describe, expect, test } from 'vitest';
import { momentOf, parseMomentMs } from '../../../../src/cli/text/moments.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('moments', () => {
  test('[CLI-14] are written as durations back, ISO times or Unix milliseconds', () => {
    expect(parseMomentMs('15m', NOW_MS)).toBe(NOW_MS - 900_000);
    expect(parseMomentMs('now-1.5h', NOW_MS)).toBe(NOW_MS - 5_400_000);
    expect(parseMomentMs('now', NOW_MS)).toBe(NOW_MS);
    expect(parseMomentMs('2026-01-01T00:00:00Z', NOW_MS)).toBe(Date.UTC(2026, 0, 1));
    expect(parseMomentMs('1767225600000', NOW_MS)).toBe(1_767_225_600_000);
  });

  test('[CLI-14] a day without a zone begins where the terminal is', () => {
    const zone = process.env.TZ;
    process.env.TZ = 'America/New_York';
    try {
      expect(parseMomentMs('2026-01-02', NOW_MS)).toBe(Date.UTC(2026, 0, 2, 5));
      expect(parseMomentMs('2026-01-02T00:00', NOW_MS)).toBe(Date.UTC(2026, 0, 2, 5));
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  test('[CLI-14] anything else is refused with the flag, the text and what is expected', () => {
    for (const text of ['', 'yesterday', '15', 'now-', 'now+1m', '2026-13-01']) {
      expect(() => momentOf('--since', text, NOW_MS)).toThrow(`--since is '${text}': expected 15m, now-15m`);
    }
    expect(momentOf('--since', undefined, NOW_MS)).toBeUndefined();
  });
});
