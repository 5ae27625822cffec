// Reads points in time (CLI-14): `15m` ago, `now-15m`, ISO 8601, or Unix milliseconds.

import { usageFailure } from '../kernel/failures.ts';
import { parseDurationMs } from './durations.ts';

/** Unix milliseconds; undefined for anything else. */
export function parseMomentMs(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs;
  const ago = parseDurationMs(text.replace(/^now-/, ''));
  if (ago !== undefined) return nowMs - ago;
  if (/^\d{10,15}$/.test(text)) return Number(text);
  // An ISO time without a zone is local time, as the user expects.
  const [, day, time] = /^(\d{4}-\d{2}-\d{2})(T.*)?$/.exec(text) ?? [];
  const unixMs = day === undefined ? Number.NaN : Date.parse(`${day}${time ?? 'T00:00'}`);
  return Number.isNaN(unixMs) ? undefined : unixMs;
}

/** The time given with a flag, if any. */
export function momentOf(flag: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const unixMs = parseMomentMs(text, nowMs);
  if (unixMs !== undefined) return unixMs;
  throw usageFailure(
    `${flag} is '${text}': expected 15m, now-15m, an ISO time such as 2026-01-02T03:04:05Z, or Unix milliseconds.`,
  );
}
