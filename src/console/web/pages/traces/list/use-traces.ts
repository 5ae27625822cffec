// The rows of the trace list: those that the server lists, and live ones (TRC-3). While the list is followed, new rows
// are shown immediately at its top. While it is held, they wait and are counted (LIV-3, LIV-4).

import { useEffect, useMemo, useState } from 'react';
import type { LiveFilter } from '../../../../api/live.ts';
import type { TraceRow, TraceSearch } from '../../../../api/telemetry.ts';
import { call } from '../../../data/api.ts';
import { type ListState, useList } from '../../../data/queries.ts';
import { useCatchUp, useLive } from '../../../data/use-live.ts';

interface LiveRows<T> {
  /** By key. Shown rows, in the order of arrival. */
  readonly shown: ReadonlyMap<string, T>;
  /** Arrived while the list was held. */
  readonly waiting: ReadonlyMap<string, T>;
  /** Rows that did not fit among those that wait. */
  readonly dropped: number;
}

const NO_LIVE_ROWS: LiveRows<never> = {
  shown: new Map<string, never>(),
  waiting: new Map<string, never>(),
  dropped: 0,
};

/** Rows kept of each kind. Older ones are on the server. */
export const LIVE_ROWS_MAX = 5_000;

function receive<T>(rows: LiveRows<T>, items: readonly T[], keyOf: (item: T) => string, isHeld: boolean): LiveRows<T> {
  const target = new Map(isHeld ? rows.waiting : rows.shown);
  for (const item of items) target.set(keyOf(item), item);
  const over = trim(target);
  return isHeld ? { ...rows, waiting: target, dropped: rows.dropped + over } : { ...rows, shown: target };
}

/** Shows the rows that wait. */
function release<T>(rows: LiveRows<T>): LiveRows<T> {
  const shown = new Map(rows.shown);
  for (const [key, item] of rows.waiting) shown.set(key, item);
  trim(shown);
  return { shown, waiting: new Map(), dropped: 0 };
}

/** Removes the oldest until the limit holds. Returns how many. */
function trim(rows: Map<string, unknown>): number {
  let removed = 0;
  for (const key of rows.keys()) {
    if (rows.size <= LIVE_ROWS_MAX) break;
    rows.delete(key);
    removed += 1;
  }
  return removed;
}

/** The server's list with the live rows: a live row replaces the listed one. */
function overlay<T>(listed: readonly T[], live: ReadonlyMap<string, T>, keyOf: (item: T) => string): T[] {
  if (live.size === 0) return [...listed];
  const known = new Set(listed.map(keyOf));
  const fresh = [...live].filter(([key]) => !known.has(key)).map(([, item]) => item);
  return [...fresh, ...listed.map((item) => live.get(keyOf(item)) ?? item)];
}

export interface TraceRows extends ListState<TraceRow> {
  readonly waitingCount: number;
  readonly droppedCount: number;
  readonly release: () => void;
  /** Whether new rows are added live. */
  readonly isLive: boolean;
}

export interface TraceOrder {
  readonly sort: 'start_time' | 'duration' | 'name';
  readonly order: 'asc' | 'desc';
}

const keyOf = ({ trace_id }: TraceRow): string => trace_id;

export function useTraces(search: TraceSearch, { sort, order }: TraceOrder, isHeld: boolean): TraceRows {
  const list = useList(['traces', search, sort, order], (page, signal) =>
    call('POST /traces/search', { body: { ...search, ...page, sort, order }, signal }),
  );
  const [live, setLive] = useState<LiveRows<TraceRow>>(NO_LIVE_ROWS);
  const question = JSON.stringify([search, sort, order]);
  useEffect(() => {
    // Rows of an earlier query are dropped: the new list contains those that still match.
    if (question !== '') setLive(NO_LIVE_ROWS);
  }, [question]);
  const filter = liveFilterOf(search);
  const isLive = filter !== undefined && sort === 'start_time' && order === 'desc';
  useCatchUp(question, isLive, list.refetch);
  useLive(
    'traces',
    {
      items: (items) => setLive((now) => receive(now, items as readonly TraceRow[], keyOf, isHeld)),
      back: list.refetch,
    },
    { filter, enabled: isLive },
  );
  useEffect(() => {
    if (!isHeld) setLive((now) => (now.waiting.size === 0 ? now : release(now)));
  }, [isHeld]);
  const items = useMemo(
    () =>
      list.items === undefined
        ? undefined
        : overlay(list.items, live.shown, keyOf).sort((a, b) =>
            isLive ? b.start_time_unix_nano - a.start_time_unix_nano : 0,
          ),
    [list.items, live.shown, isLive],
  );
  // The server counted before the live rows came. Without a further page, the rows here are all there are.
  const fresh = (items?.length ?? 0) - (list.items?.length ?? 0);
  return {
    ...list,
    items,
    total: list.more === undefined ? (items?.length ?? null) : list.total === null ? null : list.total + fresh,
    isLive,
    waitingCount: live.waiting.size,
    droppedCount: live.dropped,
    release: () => setLive(release),
  };
}

/** Undefined where the live topic has no such filter: then the list stays as it was read. */
function liveFilterOf(search: TraceSearch): LiveFilter | undefined {
  // What arrives is later than any start.
  const { start_time: _from, end_time: to, exclude_attributes: excluded, ...rest } = search;
  if (to !== undefined || excluded !== undefined) return undefined;
  return rest;
}
