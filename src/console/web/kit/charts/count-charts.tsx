// Two charts of one grid over the time range: how often something happened, and how often it failed.

import { type ReactNode, useMemo, useState } from 'react';
import type { CallWindow } from '../../../../core/telemetry/metrics/call-series.ts';
import { createStore } from '../../data/store.ts';
import { useTimeRange } from '../../data/time-range.ts';
import { timesOf } from './chart-grid.ts';
import { TimeChart, type TimeCursor } from './time-chart.tsx';
import { formatCount } from './times.ts';

/** What the usual range is divided into, about. */
export const COUNT_POINTS = 60;
export const COUNT_WINDOW_MS = 15 * 60_000;
export const COUNT_REFRESH_MS = 5_000;

export interface CountLine {
  /** Also the name of the series. */
  readonly title: string;
  readonly total: number;
  /** One for each step of the window; fewer where nothing was counted. */
  readonly values: readonly number[];
}

export interface CountChartsProps {
  readonly window: CallWindow;
  readonly readAtMs: number;
  readonly all: CountLine;
  readonly failed: CountLine;
}

export function CountCharts({ window, readAtMs, all, failed }: CountChartsProps): ReactNode {
  const { setRange } = useTimeRange();
  const [cursor] = useState(() => createStore<TimeCursor>({ atMs: undefined, anchorMs: undefined }));
  const { start_ms, end_ms, step_ms, since_ms } = window;
  const times = useMemo(
    // The last step is still being counted, and would look like a fall.
    () => timesOf(start_ms, end_ms, step_ms).filter((ms) => ms <= readAtMs),
    [start_ms, end_ms, step_ms, readAtMs],
  );
  const since = since_ms ?? start_ms;
  const toMs = times.at(-1) ?? end_ms;
  const seriesOf = ({ title, total, values }: CountLine) => [
    {
      name: title.toLowerCase(),
      headline: total,
      values: times.map((ms, at) => (ms <= since ? null : (values[at] ?? 0))),
    },
  ];
  const common = {
    times,
    cursor,
    stepMs: step_ms,
    fromMs: Math.max(start_ms, Math.min(since, toMs - COUNT_POINTS * 1_000)),
    toMs,
    write: formatCount,
    onRange: (from: number, to: number) => setRange({ from: String(Math.floor(from)), to: String(Math.ceil(to)) }),
  };
  return (
    <div className="grid grid-cols-2 gap-3 border-b border-line p-3">
      <TimeChart {...common} title={all.title} series={seriesOf(all)} />
      <TimeChart {...common} title={failed.title} tone="bad" series={seriesOf(failed)} />
    </div>
  );
}
