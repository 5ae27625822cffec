// Reads and formats durations and points in time, in the same way for all commands (CLI-14).

import { usageFailure } from '../kernel/failures.ts';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

type Unit = keyof typeof UNIT_MS;

/** `250ms`, `10s`, `1.5s`, `5m`, `1h` in milliseconds; undefined for anything else, a bare number included. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/.exec(text);
  const unit = match?.[2];
  if (match === null || unit === undefined || !isUnit(unit)) return undefined;
  return Math.round(Number(match[1]) * UNIT_MS[unit]);
}

/** Two significant units at most: `0.4 ms`, `12 ms`, `1.2 s`, `3m 5s`, `2h 10m`, `4d 3h`. */
export function formatDuration(durationMs: number): string {
  if (durationMs < 10) return `${Number(durationMs.toFixed(1))} ms`;
  if (durationMs < 1_000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${Number((durationMs / 1_000).toFixed(1))} s`;
  const seconds = Math.floor(durationMs / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  if (hours < 48) return `${hours}h ${minutes % 60}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

export type TimeStyle = 'relative' | 'local' | 'utc';

/** A time for people. Machine output does not use this function: it has ISO 8601 UTC. */
export function formatTime(unixMs: number, style: TimeStyle, nowMs: number): string {
  if (style === 'utc') return new Date(unixMs).toISOString();
  if (style === 'local') return formatLocal(new Date(unixMs));
  const ageMs = nowMs - unixMs;
  // Clocks of two machines differ slightly; a time slightly in the future counts as now.
  if (ageMs < 1_000) return 'now';
  return `${formatDuration(ageMs)} ago`;
}

function formatLocal(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
}

function isUnit(text: string): text is Unit {
  return Object.hasOwn(UNIT_MS, text);
}

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
