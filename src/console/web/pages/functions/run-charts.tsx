// The calls and errors of one function over the time range, above its runs (FUN-8).

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import type { CallPoint } from '../../../../core/telemetry/metrics/call-series.ts';
import { call } from '../../data/api.ts';
import { createStore } from '../../data/store.ts';
import { useTimeRange, windowOf } from '../../data/time-range.ts';
import { timesOf } from '../../kit/charts/chart-grid.ts';
import { TimeChart, type TimeCursor } from '../../kit/charts/time-chart.tsx';
import { formatCount } from '../../kit/charts/times.ts';

const USUAL_MS = 15 * 60_000;
const POINTS = 60;
const REFRESH_MS = 5_000;

export function RunCharts({ functionId }: { readonly functionId: string }): ReactNode {
  const { range, setRange } = useTimeRange();
  const [cursor] = useState(() => createStore<TimeCursor>({ atMs: undefined, anchorMs: undefined }));
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['calls of function', functionId, range],
    queryFn: ({ signal }) => {
      const query = { ...windowOf(range, USUAL_MS, Date.now()), points: POINTS, function_id: functionId };
      return call('GET /calls', { query, signal });
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  const times = useMemo(
    // The last step is still being counted, and would look like a fall.
    () =>
      data === undefined ? [] : timesOf(data.start_ms, data.end_ms, data.step_ms).filter((ms) => ms <= dataUpdatedAt),
    [data, dataUpdatedAt],
  );
  if (data === undefined) return null;
  const [row] = data.functions;
  const since = data.since_ms ?? data.start_ms;
  const valuesOf = (read: (point: CallPoint) => number) =>
    times.map((ms, at) => {
      const point = row?.points[at];
      return ms <= since ? null : point === undefined ? 0 : read(point);
    });
  const common = {
    times,
    cursor,
    stepMs: data.step_ms,
    fromMs: Math.max(data.start_ms, Math.min(since, (times.at(-1) ?? data.end_ms) - POINTS * 1_000)),
    toMs: times.at(-1) ?? data.end_ms,
    write: formatCount,
    onRange: (from: number, to: number) => setRange({ from: String(Math.floor(from)), to: String(Math.ceil(to)) }),
  };
  return (
    <div className="grid grid-cols-2 gap-3 border-b border-line p-3">
      <TimeChart
        {...common}
        title="Calls"
        series={[{ name: 'calls', headline: row?.calls ?? 0, values: valuesOf(({ calls }) => calls) }]}
      />
      <TimeChart
        {...common}
        title="Errors"
        tone="bad"
        series={[{ name: 'errors', headline: row?.errors ?? 0, values: valuesOf(({ errors }) => errors) }]}
      />
    </div>
  );
}
