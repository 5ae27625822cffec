// The last fifteen minutes in five small charts with one cursor (DSH-2).

import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { CountersItem } from '../../../api/live.ts';
import { counterHistory, useCounters } from '../../data/counters.ts';
import { createStore } from '../../data/store.ts';
import type { ChartSeries } from '../../kit/charts/chart-points.ts';
import { TimeChart, type TimeCursor } from '../../kit/charts/time-chart.tsx';
import { formatCount, formatDuration, formatRate, formatShare } from '../../kit/charts/times.ts';

const WINDOW_MS = 15 * 60_000;
/** The known interval grows while the page is open, and the charts grow with it. */
const WINDOW_MIN_MS = 60_000;
/** Latency has three values, so its line needs more room. */
const GRID =
  'grid grid-cols-2 gap-4 xl:grid-cols-[1fr_1fr_1.8fr_1fr_1fr] ' +
  '[&>:nth-child(3)]:col-span-2 xl:[&>:nth-child(3)]:col-span-1';

export function Charts(): ReactNode {
  const { latest, version } = useCounters();
  const navigate = useNavigate();
  const [cursor] = useState(() => createStore<TimeCursor>({ atMs: undefined, anchorMs: undefined }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ring has changed when its version has
  const { times, rows } = useMemo(() => {
    const items = counterHistory.from(counterHistory.first);
    return { times: items.map(({ at }) => at), rows: items };
  }, [version]);
  const toMs = latest?.at ?? Date.now();
  const series = (name: string, read: (item: CountersItem) => number | null): ChartSeries => ({
    name,
    values: rows.map(read),
  });
  const common = {
    times,
    cursor,
    fromMs: Math.min(toMs - WINDOW_MIN_MS, Math.max(toMs - WINDOW_MS, times[0] ?? toMs)),
    toMs,
    onRange: (from: number, to: number) =>
      void navigate({ to: '/traces', search: { from: String(Math.floor(from)), to: String(Math.ceil(to)) } }),
  };
  return (
    <section aria-label="Last 15 minutes" className={GRID}>
      <TimeChart
        {...common}
        title="Calls per second"
        write={formatRate}
        series={[series('calls', (one) => one.calls_per_s)]}
      />
      <TimeChart
        {...common}
        title="Error rate"
        tone="bad"
        write={formatShare}
        series={[series('errors', errorShare)]}
      />
      <TimeChart
        {...common}
        title="Latency"
        write={formatDuration}
        series={[
          series('p50', (one) => one.p50_ms),
          series('p95', (one) => one.p95_ms),
          series('p99', (one) => one.p99_ms),
        ]}
      />
      <TimeChart
        {...common}
        title="Queue depth"
        write={formatCount}
        series={[series('jobs', (one) => one.queue_depth)]}
      />
      <TimeChart
        {...common}
        title="Active workers"
        write={formatCount}
        series={[series('active', (one) => one.workers_active)]}
      />
    </section>
  );
}

function errorShare({ calls_per_s, errors_per_s }: CountersItem): number | null {
  if (calls_per_s === null || errors_per_s === null) return null;
  return calls_per_s === 0 ? 0 : errors_per_s / calls_per_s;
}
