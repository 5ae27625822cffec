// Five small charts of one time range on one grid of points, with one cursor. Their headlines show the last minute
// (DSH-2).

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { CallPoint } from '../../../../core/telemetry/metrics/call-cell.ts';
import type { CountersItem } from '../../../api/live.ts';
import { call } from '../../data/api.ts';
import { counterHistory, useCounters } from '../../data/counters.ts';
import { createStore } from '../../data/store.ts';
import { useTimeRange, windowOf } from '../../data/time-range.ts';
import { type ChartGrid, sampled, timesOf } from '../../kit/charts/chart-grid.ts';
import { type HeadedSeries, TimeChart, type TimeChartProps, type TimeCursor } from '../../kit/charts/time-chart.tsx';
import { formatClock, formatCount, formatDuration, formatRate, formatShare } from '../../kit/charts/times.ts';

const WINDOW_MS = 15 * 60_000;
const WINDOW_MIN_MS = 60_000;
/** Ten seconds each. */
const POINTS = 90;
const REFRESH_MS = 5_000;
/** Latency has three values, so its line needs more room. */
const GRID =
  'grid grid-cols-2 gap-4 xl:grid-cols-[1fr_1fr_1.8fr_1fr_1fr] ' +
  '[&>:nth-child(3)]:col-span-2 xl:[&>:nth-child(3)]:col-span-1';

export function Charts(): ReactNode {
  const navigate = useNavigate();
  const [cursor] = useState(() => createStore<TimeCursor>({ atMs: undefined, anchorMs: undefined }));
  const { grid, charts } = useCharts();
  const { times, stepMs, fromMs, toMs } = grid;
  const openTraces = (from: number, to: number): void =>
    void navigate({ to: '/traces', search: { from: String(Math.floor(from)), to: String(Math.ceil(to)) } });
  return (
    <section aria-label="Charts">
      <p className="pb-2 text-sm text-muted">
        {formatClock(fromMs)} to {formatClock(toMs)}. Figures are those of the last minute.
      </p>
      <div className={GRID}>
        {charts.map((chart) => (
          <TimeChart key={chart.title} {...{ times, stepMs, fromMs, toMs, cursor }} {...chart} onRange={openTraces} />
        ))}
      </div>
    </section>
  );
}

type Chart = Pick<TimeChartProps, 'title' | 'series' | 'write' | 'tone'>;

function useCharts(): { readonly grid: ChartGrid; readonly charts: readonly Chart[] } {
  const { latest, version } = useCounters();
  const { range } = useTimeRange();
  const { data, dataUpdatedAt } = useQuery({
    queryKey: ['dashboard', 'calls', range],
    queryFn: ({ signal }) =>
      call('GET /calls', { query: { ...windowOf(range, WINDOW_MS, Date.now()), points: POINTS }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
    retry: false,
  });
  const grid = useGrid(data, dataUpdatedAt);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ring has changed when its version has
  const history = useMemo(() => counterHistory.from(counterHistory.first), [version]);
  return { grid, charts: chartsOf(grid, data?.total.points ?? [], history, latest) };
}

function chartsOf(
  grid: ChartGrid,
  points: readonly CallPoint[],
  history: readonly CountersItem[],
  latest: CountersItem | undefined,
): readonly Chart[] {
  const counted = (name: string, headline: Headline, read: (point: CallPoint) => number | null): HeadedSeries => {
    const values = grid.times.map((ms, at) => {
      const point = points[at];
      // Nothing was counted before the engine started.
      return point === undefined || ms <= grid.sinceMs ? null : read(point);
    });
    return { name, headline, values };
  };
  const seen = (name: string, headline: Headline, read: (item: CountersItem) => number | null): HeadedSeries => ({
    name,
    headline,
    values: sampled(grid, history, read),
  });
  const seconds = grid.stepMs / 1_000;
  const latencies = [
    counted('p50', latest?.p50_ms, ({ p50_ms }) => p50_ms),
    counted('p95', latest?.p95_ms, ({ p95_ms }) => p95_ms),
    counted('p99', latest?.p99_ms, ({ p99_ms }) => p99_ms),
  ];
  const calls = counted('calls', latest?.calls_per_s, (one) => one.calls / seconds);
  const errors = counted('errors', errorShare(latest), (one) => (one.calls === 0 ? null : one.errors / one.calls));
  const depth = seen('jobs', latest?.queue_depth, ({ queue_depth }) => queue_depth);
  const workers = seen('active', latest?.workers_active, ({ workers_active }) => workers_active);
  return [
    { title: 'Calls per second', write: formatRate, series: [calls] },
    { title: 'Error rate', write: formatShare, series: [errors], tone: 'bad' },
    { title: 'Latency', write: formatDuration, series: latencies },
    { title: 'Queue depth', write: formatCount, series: [depth] },
    { title: 'Active workers', write: formatCount, series: [workers] },
  ];
}

type Headline = HeadedSeries['headline'];

interface Counted {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly step_ms: number;
  readonly since_ms: number | null;
}

function useGrid(counted: Counted | undefined, countedAtMs: number): ChartGrid {
  const [openedMs] = useState(() => Date.now());
  return useMemo(() => {
    const stepMs = counted?.step_ms ?? WINDOW_MS / POINTS;
    const endMs = counted?.end_ms ?? openedMs;
    const startMs = counted?.start_ms ?? endMs - WINDOW_MS;
    const sinceMs = counted?.since_ms ?? startMs;
    // The last step is still being counted, and would look like a fall.
    const times = timesOf(startMs, endMs, stepMs).filter((ms) => counted === undefined || ms <= countedAtMs);
    const toMs = times.at(-1) ?? endMs;
    // The range grows with what is known, until it has its whole length.
    const fromMs = Math.max(startMs, Math.min(sinceMs, toMs - WINDOW_MIN_MS));
    return { startMs, fromMs, toMs, stepMs, sinceMs, times };
  }, [counted, countedAtMs, openedMs]);
}

function errorShare(latest: CountersItem | undefined): number | null | undefined {
  if (latest === undefined) return undefined;
  const { calls_per_s: calls, errors_per_s: errors } = latest;
  if (calls === null || errors === null) return null;
  return calls === 0 ? 0 : errors / calls;
}
