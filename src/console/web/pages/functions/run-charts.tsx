// The calls and errors of one function over the time range, above its runs (FUN-8).

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../data/api.ts';
import { useTimeRange, windowOf } from '../../data/time-range.ts';
import { COUNT_POINTS, COUNT_REFRESH_MS, COUNT_WINDOW_MS, CountCharts } from '../../kit/charts/count-charts.tsx';

export function RunCharts({ functionId }: { readonly functionId: string }): ReactNode {
  const { range } = useTimeRange();
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['calls of function', functionId, range],
    queryFn: ({ signal }) => {
      const window = windowOf(range, COUNT_WINDOW_MS, Date.now());
      return call('GET /calls', { query: { ...window, points: COUNT_POINTS, function_id: functionId }, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: COUNT_REFRESH_MS,
    retry: false,
  });
  if (data === undefined) return null;
  const [row] = data.functions;
  const points = row?.points ?? [];
  return (
    <CountCharts
      window={data}
      readAtMs={dataUpdatedAt}
      all={{ title: 'Calls', total: row?.calls ?? 0, values: points.map(({ calls }) => calls) }}
      failed={{ title: 'Errors', total: row?.errors ?? 0, values: points.map(({ errors }) => errors) }}
    />
  );
}
