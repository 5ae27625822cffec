// The rows of the trace list: those that the server lists, and live ones (TRC-3).

import { useEffect, useMemo, useState } from 'react';
import type { LiveFilter } from '../../../../../console-api/live.ts';
import type { TraceRow, TraceSearch } from '../../../../../console-api/telemetry.ts';
import { type LiveRows, NO_LIVE_ROWS, overlay, receive, release } from '../../../data/live-list.ts';
import { call } from '../../../data/routes.ts';
import { useCatchUp } from '../../../data/use-catch-up.ts';
import { type ListState, useList } from '../../../data/use-list.ts';
import { useLive } from '../../../data/use-live.ts';

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
  const { start_time: from, end_time: to, exclude_attributes: excluded, ...rest } = search;
  if (from !== undefined || to !== undefined || excluded !== undefined) return undefined;
  return rest;
}
