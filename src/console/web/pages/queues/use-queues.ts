// The queues with their counts: read once, patched every second (QUE-1).

import { useEffect, useMemo, useRef, useState } from 'react';
import type { QueueRow } from '../../../api/queues.ts';
import { call } from '../../data/api.ts';
import { type ListState, refetchSoon, useList } from '../../data/queries.ts';
import { createStore } from '../../data/store.ts';
import { useLive } from '../../data/use-live.ts';
import { useNow } from '../../kit/charts/time.tsx';
import { type DepthHistory, withDepths } from './logic/queue-state.ts';
import type { QueuesSearch } from './search.ts';

/** Of all queues that a view of this tab has watched. */
export const depths = createStore<DepthHistory>(new Map());

export function useQueues({ q, sort, order }: Pick<QueuesSearch, 'q' | 'sort' | 'order'>): ListState<QueueRow> {
  const list = useList(['queues', q, sort, order], (page, signal) =>
    call('GET /queues', { query: { ...page, q, sort, order }, signal }),
  );
  const [live, setLive] = useState<ReadonlyMap<string, QueueRow>>(new Map());
  useLive('queues', {
    items: (items) =>
      setLive((now) => new Map([...now, ...(items as readonly QueueRow[]).map((row) => [row.name, row] as const)])),
    back: () => refetchSoon(['queues']),
  });
  const items = useMemo(() => list.items?.map((row) => live.get(row.name) ?? row), [list.items, live]);
  useDepths(items);
  return { ...list, items };
}

/** One value a second, even when nothing changes. */
function useDepths(items: readonly QueueRow[] | undefined): void {
  const nowMs = useNow();
  const latest = useRef(items);
  latest.current = items;
  useEffect(() => {
    const { current: rows } = latest;
    if (nowMs > 0 && rows !== undefined) depths.set((now) => withDepths(now, rows));
  }, [nowMs]);
}
