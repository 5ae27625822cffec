// The graph of the chosen range, and which of its edges were active in the last seconds (FLO-2, FLO-5).

import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { FlowGraph } from '../../../api/flow.ts';
import { call } from '../../data/api.ts';
import { refetchSoon } from '../../data/queries.ts';
import { type TimeRange, windowOf } from '../../data/time-range.ts';
import { useLive } from '../../data/use-live.ts';

/** Each read makes the engine examine many traces. */
const REFRESH_MS = 20_000;
const ACTIVE_MS = 5_000;
/** The window of the figures without a range. */
const USUAL_MS = 900_000;

export function useFlowGraph(range: TimeRange, internal: boolean, live: boolean): UseQueryResult<FlowGraph> {
  useLive(
    'registry',
    { items: () => refetchSoon(['flow', 'graph']), back: () => refetchSoon(['flow', 'graph']) },
    {
      enabled: live,
    },
  );
  return useQuery({
    queryKey: ['flow', 'graph', range, internal],
    queryFn: ({ signal }) =>
      call('GET /flow/graph', { query: { ...windowOf(range, USUAL_MS, Date.now()), internal }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: live ? REFRESH_MS : false,
  });
}

/** Edges by their ids. Trigger edges are active when the trigger fired, other edges when traces show a call. */
export function useActivity(enabled: boolean): ReadonlySet<string> {
  const { data } = useQuery({
    queryKey: ['flow', 'activity'],
    queryFn: async ({ signal }) => {
      const since = Date.now() - ACTIVE_MS;
      const [graph, triggers] = await Promise.all([
        call('GET /flow/graph', { query: { start_time: since }, signal }),
        call('GET /triggers', { query: { limit: 1_000 }, signal }),
      ]);
      const seen = graph.edges.filter(({ calls_per_minute: calls }) => (calls ?? 0) > 0).map(({ id }) => id);
      const fired = triggers.items
        .filter(({ last_fired_at: last }) => last !== null && Date.parse(last) >= since)
        .map(({ id, function_id: functionId }) => `trigger:${id}>function:${functionId}`);
      return [...seen, ...fired];
    },
    refetchInterval: ACTIVE_MS,
    enabled,
  });
  return useMemo(() => new Set(enabled ? data : []), [data, enabled]);
}
