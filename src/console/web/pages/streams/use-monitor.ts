// The messages of the monitor: added to a buffer as they arrive, shown up to the held position (LIV-3, LIV-4, STR-4).

import { useMemo, useState } from 'react';
import type { StreamTap } from '../../../api/live.ts';
import { type LiveItem, useLive, useLiveFeed } from '../../data/use-live.ts';
import { isMeant, type MonitorFilter, type MonitorLine, missedBefore, ratesOf } from './stream-messages.ts';

export interface StreamCounts {
  readonly total: number;
  readonly inbound: number;
  readonly outbound: number;
}

export interface MonitorState {
  /** Newest first. */
  readonly lines: readonly MonitorLine[];
  /** Oldest first: all buffered messages up to the held position. */
  readonly taps: readonly StreamTap[];
  readonly counts: StreamCounts;
  readonly rates: ReadonlyMap<string, number>;
  readonly buffered: number;
  readonly waiting: number;
  readonly dropped: number;
  readonly refusal: { readonly code: string; readonly message: string } | undefined;
  readonly clear: () => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly isPaused: boolean;
}

const NO_COUNTS: StreamCounts = { total: 0, inbound: 0, outbound: 0 };

export function useMonitor(filter: MonitorFilter, limit: number, system: boolean): MonitorState {
  const topicFilter = { system };
  const feed = useLiveFeed<StreamTap>('streams', { limit, filter: topicFilter });
  const { ring, version } = feed;
  const [counts, setCounts] = useState(NO_COUNTS);
  useLive(
    'streams',
    { items: (items) => setCounts((now) => withCounts(now, items as readonly StreamTap[])) },
    { filter: topicFilter },
  );
  // Undefined follows the newest. A number holds the view there.
  const [held, setHeld] = useState<number>();
  const to = Math.min(held ?? ring.total, ring.total);
  const { direction, subs, q } = filter;
  const shown = useMemo(() => {
    const from = version < 0 ? to : ring.first;
    const items = ring.from(from, to);
    const taps = items.flatMap((item) => (item.kind === 'item' ? [item.value] : []));
    const missed = new Map(missedBefore(taps).map((count, at) => [taps[at], count] as const));
    const lines = items.flatMap((item, at) => lineOf(item, from + at, { direction, subs, q }, missed)).reverse();
    return { taps, lines, rates: ratesOf(taps) };
  }, [ring, version, to, direction, subs, q]);
  return {
    ...shown,
    counts,
    buffered: ring.length,
    waiting: ring.total - to,
    dropped: held === undefined ? 0 : Math.max(0, ring.first - held),
    refusal: feed.refusal,
    clear: () => {
      feed.clear();
      setCounts(NO_COUNTS);
      setHeld((now) => (now === undefined ? undefined : 0));
    },
    pause: () => setHeld(ring.total),
    resume: () => setHeld(undefined),
    isPaused: held !== undefined,
  };
}

function lineOf(
  item: LiveItem<StreamTap>,
  number: number,
  filter: MonitorFilter,
  missed: ReadonlyMap<StreamTap | undefined, number>,
): MonitorLine[] {
  if (item.kind === 'gap') return [{ kind: 'gap', id: `gap ${number}`, dropped: item.dropped }];
  if (!isMeant(item.value, filter)) return [];
  return [{ kind: 'message', id: String(number), tap: item.value, missed: missed.get(item.value) ?? 0 }];
}

function withCounts(now: StreamCounts, taps: readonly StreamTap[]): StreamCounts {
  const inbound = taps.filter(({ direction }) => direction === 'inbound').length;
  return {
    total: now.total + taps.length,
    inbound: now.inbound + inbound,
    outbound: now.outbound + taps.length - inbound,
  };
}
