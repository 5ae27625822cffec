// The time range of the whole console: in the address of every page that has times, and kept from page to page. No
// range is live: lists have no end, and figures have the window that their page names.

import { useNavigate, useSearch as useRouterSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { param, readSearch, writeSearch } from './search.ts';

export interface TimeRange {
  /** Moments as they are typed: `now-15m`, ISO or Unix milliseconds; empty: no bound. */
  readonly from: string;
  readonly to: string;
}

export const LIVE: TimeRange = { from: '', to: '' };

export const RANGE_CHOICES: readonly (TimeRange & { readonly label: string })[] = [
  { ...LIVE, label: 'Live' },
  { from: 'now-5m', to: '', label: 'Last 5 minutes' },
  { from: 'now-15m', to: '', label: 'Last 15 minutes' },
  { from: 'now-1h', to: '', label: 'Last hour' },
  { from: 'now-24h', to: '', label: 'Last 24 hours' },
];

const RANGE_SEARCH = { from: param.text(), to: param.text() };

export interface RangeState {
  readonly range: TimeRange;
  readonly setRange: (range: TimeRange) => void;
}

export function useTimeRange(): RangeState {
  const raw: Record<string, unknown> = useRouterSearch({ strict: false });
  const navigate = useNavigate();
  const { from, to } = readSearch(RANGE_SEARCH, raw);
  return useMemo(
    () => ({
      range: { from, to },
      setRange: (range: TimeRange): void => {
        const change = writeSearch(RANGE_SEARCH, range);
        void navigate({
          to: '.',
          search: (now: Record<string, unknown>) => ({ ...now, ...change }),
          resetScroll: false,
        });
      },
    }),
    [from, to, navigate],
  );
}

/** For links to other pages: the range stays, the rest of the address does not. */
export function keepRange(now: Readonly<Record<string, unknown>>): Record<string, string | string[] | undefined> {
  return writeSearch(RANGE_SEARCH, readSearch(RANGE_SEARCH, now));
}

export interface Bounds {
  readonly start_time?: number;
  readonly end_time?: number;
}

/** What cannot be read is no bound. */
export function boundsOf({ from, to }: TimeRange, nowMs: number): Bounds {
  const [start, end] = [readMoment(from, nowMs), readMoment(to, nowMs)];
  return { ...(start !== undefined && { start_time: start }), ...(end !== undefined && { end_time: end }) };
}

/** The window of figures: that of the range, or the last `usualMs`. */
export function windowOf(range: TimeRange, usualMs: number, nowMs: number): Required<Bounds> {
  const { start_time, end_time = nowMs } = boundsOf(range, nowMs);
  const start = start_time ?? end_time - usualMs;
  return { start_time: Math.min(start, end_time), end_time };
}

export function rangeLabel({ from, to }: TimeRange): string {
  const known = RANGE_CHOICES.find((choice) => choice.from === from && choice.to === to);
  return known?.label ?? `${momentLabel(from) || 'start'} to ${momentLabel(to) || 'now'}`;
}

function momentLabel(text: string): string {
  const ms = /^\d{10,}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isNaN(ms) ? text : new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `now-15m`, ISO or Unix milliseconds (CLI-14). */
export function readMoment(text: string, nowMs: number): number | undefined {
  const relative = /^now(?:-(\d+)([smhd]))?$/.exec(text.trim());
  if (relative !== null) return nowMs - Number(relative[1] ?? 0) * (UNIT_MS[relative[2] ?? 's'] ?? 0);
  if (/^\d{10,}$/.test(text.trim())) return Number(text);
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
