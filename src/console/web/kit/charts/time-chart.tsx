// A small chart over time. Charts that share a `TimeCursor` show their values at the same moment. Dragging, or Shift
// with the arrow keys, selects a range (DSH-2).

import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { type Store, useStore } from '../../data/store.ts';
import { Card } from '../layout/page.tsx';
import { type ChartSeries, type ChartWindow, linePath, msAt, nearestAt, topOf, xOf } from './chart-points.ts';
import { formatClock, formatLocal } from './times.ts';

export interface TimeCursor {
  readonly atMs: number | undefined;
  /** Where a selection began. */
  readonly anchorMs: number | undefined;
}

/** `headline`: the present value, which the title shows whatever the pointer does. */
export interface HeadedSeries extends ChartSeries {
  readonly headline: number | null | undefined;
}

export interface TimeChartProps {
  readonly title: string;
  readonly series: readonly HeadedSeries[];
  /** Ascending; one for each value. */
  readonly times: readonly number[];
  /** From one to the next. */
  readonly stepMs: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly write: (value: number) => string;
  readonly cursor: Store<TimeCursor>;
  readonly onRange: (fromMs: number, toMs: number) => void;
  readonly tone?: 'bad';
}

const HEIGHT = 64;
/** The height that the line of several values takes, so that charts next to each other are equally tall. */
const VALUES_HEIGHT = 20;
/** Steps further apart are not joined. */
const GAP_STEPS = 1.5;
const KEY_STEPS = 60;
const RANGE_MIN_MS = 1_000;
const STROKES = ['stroke-accent', 'stroke-warn', 'stroke-bad'] as const;
const FILLS = ['text-accent', 'text-warn', 'text-bad'] as const;

export function TimeChart(props: TimeChartProps): ReactNode {
  const { title, series, times, fromMs, toMs, cursor } = props;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(300);
  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(40, entry?.contentRect.width ?? 300)));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  const { atMs, anchorMs } = useStore(cursor);
  const height = series.length > 1 ? HEIGHT - VALUES_HEIGHT : HEIGHT;
  const window: ChartWindow = { fromMs, toMs, width, height };
  const at = nearestAt(times, atMs ?? toMs);
  const top = topOf(series);
  const isBlank = times.length > 0 && series.every(({ values }) => values.every((value) => value === null));
  const moments = useMoments(props, window);
  return (
    <Card>
      <div className="flex flex-wrap items-baseline justify-between gap-x-2">
        <h3 className="h-5 truncate text-sm text-muted">{title}</h3>
        <Headline {...props} />
      </div>
      <div
        ref={box}
        role="slider"
        tabIndex={0}
        aria-label={`${title}, ${formatClock(fromMs)} to ${formatClock(toMs)}`}
        aria-valuemin={fromMs}
        aria-valuemax={toMs}
        aria-valuenow={Math.round(atMs ?? toMs)}
        aria-valuetext={textOf(props, at)}
        className="mt-2 touch-pan-y"
        {...moments}
      >
        <svg aria-hidden="true" width="100%" height={height} className="block overflow-visible">
          <line x1="0" x2={width} y1={height - 1} y2={height - 1} className="stroke-line" />
          {anchorMs !== undefined && atMs !== undefined && <Chosen window={window} fromMs={anchorMs} toMs={atMs} />}
          {series.map(({ name, values }, place) => (
            <path
              key={name}
              d={linePath(window, times, values, top, GAP_STEPS * props.stepMs)}
              fill="none"
              strokeWidth="1.5"
              strokeLinejoin="round"
              strokeLinecap="round"
              className={props.tone === 'bad' ? 'stroke-bad' : STROKES[place % STROKES.length]}
            />
          ))}
          {isBlank && (
            <text x="0" y={height / 2} className="fill-faint text-xs">
              no figures yet
            </text>
          )}
          {atMs !== undefined && (
            <line x1={xOf(window, atMs)} x2={xOf(window, atMs)} y1="0" y2={height} className="stroke-line-strong" />
          )}
        </svg>
      </div>
      <Axis chart={props} at={at} atMs={atMs} top={isBlank ? undefined : top} />
    </Card>
  );
}

function Chosen({
  window,
  fromMs,
  toMs,
}: {
  readonly window: ChartWindow;
  readonly fromMs: number;
  readonly toMs: number;
}): ReactNode {
  const [from, to] = [xOf(window, fromMs), xOf(window, toMs)];
  return (
    <rect
      x={Math.min(from, to)}
      width={Math.abs(to - from)}
      y="0"
      height={window.height}
      className="fill-accent-soft"
    />
  );
}

interface AxisProps {
  readonly chart: TimeChartProps;
  readonly at: number | undefined;
  readonly atMs: number | undefined;
  /** The largest value. */
  readonly top: number | undefined;
}

/** The range and the largest value, or the values under the pointer. */
function Axis({ chart, at, atMs, top }: AxisProps): ReactNode {
  const { fromMs, toMs, write } = chart;
  return (
    <p aria-hidden="true" className="flex justify-between gap-2 pt-0.5 text-[10px] whitespace-nowrap text-faint">
      {atMs === undefined ? (
        <>
          <span>{formatClock(fromMs)}</span>
          {top !== undefined && <span>up to {write(top)}</span>}
          <span>{formatClock(toMs)}</span>
        </>
      ) : (
        <span className="text-text">{textOf(chart, at)}</span>
      )}
    </p>
  );
}

function Headline({ series, write, tone }: TimeChartProps): ReactNode {
  return (
    <span
      className={
        series.length > 1
          ? 'flex h-5 w-full flex-wrap items-baseline gap-x-2 overflow-hidden text-sm font-semibold whitespace-nowrap'
          : 'flex items-baseline text-base font-semibold whitespace-nowrap'
      }
    >
      {series.map(({ name, headline }, place) => (
        <span key={name}>
          {series.length > 1 && (
            <span className={`mr-1 text-xs font-normal ${FILLS[place % FILLS.length]}`}>{name}</span>
          )}
          <span className={tone === 'bad' && (headline ?? 0) > 0 ? 'text-bad' : undefined}>
            {headline === null || headline === undefined ? '–' : write(headline)}
          </span>
        </span>
      ))}
    </span>
  );
}

function textOf({ series, times, write }: TimeChartProps, at: number | undefined): string {
  const ms = at === undefined ? undefined : times[at];
  if (at === undefined || ms === undefined) return 'no data yet';
  const values = series.map(({ name, values: own }) => {
    const value = own[at];
    return `${name} ${value === null || value === undefined ? '–' : write(value)}`;
  });
  return `${formatLocal(ms).slice(11, 19)}: ${values.join(', ')}`;
}

/** Pointer and keys do the same: move the cursor, select a range, open it. */
function useMoments({ cursor, onRange, fromMs, toMs }: TimeChartProps, window: ChartWindow): object {
  const moment = (event: PointerEvent<HTMLElement>): number =>
    msAt(window, event.clientX - event.currentTarget.getBoundingClientRect().left);
  const finish = (): void => {
    const { atMs, anchorMs } = cursor.get();
    cursor.set({ atMs, anchorMs: undefined });
    if (atMs === undefined || anchorMs === undefined || Math.abs(atMs - anchorMs) < RANGE_MIN_MS) return;
    onRange(Math.min(atMs, anchorMs), Math.max(atMs, anchorMs));
  };
  return {
    onPointerMove: (event: PointerEvent<HTMLElement>) => cursor.set({ ...cursor.get(), atMs: moment(event) }),
    onPointerLeave: () => cursor.get().anchorMs === undefined && cursor.set({ atMs: undefined, anchorMs: undefined }),
    onPointerDown: (event: PointerEvent<HTMLElement>) => {
      event.currentTarget.setPointerCapture(event.pointerId);
      cursor.set({ atMs: moment(event), anchorMs: moment(event) });
    },
    onPointerUp: finish,
    onBlur: () => cursor.set({ atMs: undefined, anchorMs: undefined }),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      const by = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
      if (event.key === 'Enter') finish();
      if (by === 0) return;
      event.preventDefault();
      const { atMs = toMs, anchorMs } = cursor.get();
      const next = Math.min(Math.max(atMs + (by * (toMs - fromMs)) / KEY_STEPS, fromMs), toMs);
      cursor.set({ atMs: next, anchorMs: event.shiftKey ? (anchorMs ?? atMs) : undefined });
    },
  };
}
