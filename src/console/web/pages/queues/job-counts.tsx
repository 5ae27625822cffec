// What the queues did over the time range: attempts, and failed ones. Counted, so it does not depend on which jobs or
// traces are still stored (QUE-5).

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import type { JobsAnswer, QueueJobs } from '../../../../core/telemetry/metrics/call-answers.ts';
import { call } from '../../data/api.ts';
import { createStore } from '../../data/store.ts';
import { type TimeRange, useTimeRange, windowOf } from '../../data/time-range.ts';
import { COUNT_POINTS, COUNT_REFRESH_MS, COUNT_WINDOW_MS, CountCharts } from '../../kit/charts/count-charts.tsx';

/** Of the queues in the list; undefined where nothing is counted. */
export const jobCounts = createStore<ReadonlyMap<string, QueueJobs> | undefined>(undefined);

/** Reads them for the cells of the list. */
export function useJobCounts(): JobsAnswer | undefined {
  const { range } = useTimeRange();
  const { data } = useQuery({
    queryKey: ['jobs of queues', range],
    queryFn: ({ signal }) => call('GET /job-counts', { query: windowNow(range), signal }),
    ...POLLED,
  });
  useEffect(() => {
    jobCounts.set(data && new Map(data.queues.map((row) => [row.queue, row] as const)));
  }, [data]);
  return data;
}

export function JobCharts({ queue }: { readonly queue: string }): ReactNode {
  const { range } = useTimeRange();
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['jobs of queue', queue, range],
    queryFn: ({ signal }) =>
      call('GET /job-counts', { query: { ...windowNow(range), points: COUNT_POINTS, queue }, signal }),
    ...POLLED,
  });
  if (data === undefined) return null;
  const [row] = data.queues;
  const points = row?.points ?? [];
  return (
    <CountCharts
      window={data}
      readAtMs={dataUpdatedAt}
      all={{ title: 'Attempts', total: row?.attempts ?? 0, values: points.map(({ attempts }) => attempts) }}
      failed={{ title: 'Failed attempts', total: row?.failed ?? 0, values: points.map(({ failed }) => failed) }}
    />
  );
}

const POLLED = { placeholderData: keepPreviousData, refetchInterval: COUNT_REFRESH_MS, retry: false } as const;

function windowNow(range: TimeRange) {
  return windowOf(range, COUNT_WINDOW_MS, Date.now());
}
