import { describe, expect, test } from 'vitest';
import {
  formatDuration,
  formatTime,
  momentOf,
  parseDurationMs,
  parseMomentMs,
} from '../../../../src/cli/text/times.ts';

describe('durations', () => {
  test.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['0s', 0],
  ])('[CLI-14] %s is %d milliseconds', (text, expected) => {
    expect(parseDurationMs(text)).toBe(expected);
  });

  test.each(['', '10', 's', '10 s', '-1s', '1d', '1S', '1e3s', '10s5ms', '٣s'])(
    '[CLI-14] %j is not a duration',
    (text) => {
      expect(parseDurationMs(text)).toBeUndefined();
    },
  );

  test.each([
    [0.44, '0.4 ms'],
    [12.3, '12 ms'],
    [1_240, '1.2 s'],
    [60_000, '1m 0s'],
    [185_000, '3m 5s'],
    [7_800_000, '2h 10m'],
    [4 * 86_400_000 + 3 * 3_600_000, '4d 3h'],
  ])('[CLI-14] %d ms is shown as %s', (durationMs, expected) => {
    expect(formatDuration(durationMs)).toBe(expected);
  });
});

describe('times', () => {
  const moment = Date.UTC(2026, 0, 2, 3, 4, 5);

  test('[CLI-14] a time is shown as its age unless another style is given', () => {
    expect(formatTime(moment, 'relative', moment + 65_000)).toBe('1m 5s ago');
    expect(formatTime(moment, 'relative', moment - 400)).toBe('now');
    expect(formatTime(moment, 'utc', moment)).toBe('2026-01-02T03:04:05.000Z');
    expect(formatTime(moment, 'local', moment)).toMatch(/^2026-01-0[123] \d\d:\d\d:05$/);
  });
});

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

describe('points in time', () => {
  test('[CLI-14] are written as durations back, ISO times or Unix milliseconds', () => {
    expect(parseMomentMs('15m', NOW_MS)).toBe(NOW_MS - 900_000);
    expect(parseMomentMs('now-1.5h', NOW_MS)).toBe(NOW_MS - 5_400_000);
    expect(parseMomentMs('now', NOW_MS)).toBe(NOW_MS);
    expect(parseMomentMs('2026-01-01T00:00:00Z', NOW_MS)).toBe(Date.UTC(2026, 0, 1));
    expect(parseMomentMs('1767225600000', NOW_MS)).toBe(1_767_225_600_000);
  });

  test('[CLI-14] a day without a zone is in local time', () => {
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

  test('[CLI-14] other text is refused with the flag, the text and the expected forms', () => {
    for (const text of ['', 'yesterday', '15', 'now-', 'now+1m', '2026-13-01']) {
      expect(() => momentOf('--since', text, NOW_MS)).toThrow(`--since is '${text}': expected 15m, now-15m`);
    }
    expect(momentOf('--since', undefined, NOW_MS)).toBeUndefined();
  });
});
