// Records over time, stacked by severity, above the list (LOG-3): dragging sets the range. Next to it are the services
// of the records (LOG-1).

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, type PointerEvent as ReactPointerEvent, useState } from 'react';
import type { LogHistogram, LogSearch } from '../../../api/telemetry.ts';
import { call } from '../../data/api.ts';
import type { SearchState } from '../../data/search.ts';
import { formatCount, formatCountOf, formatLocal } from '../../kit/charts/times.ts';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import type { LOGS_SEARCH } from './logs-search.ts';

const BUCKETS = 60;
const REFRESH_MS = 5_000;
const SERVICES_SHOWN = 6;
/** From the bottom up: the most severe is at the base line, where bars are easiest to compare. */
const STACK = [
  ['error', 'fill-bad'],
  ['warn', 'fill-warn'],
  ['info', 'fill-accent'],
  ['debug', 'fill-faint'],
  ['trace', 'fill-line-strong'],
] as const;

export function Histogram({
  question,
  search,
  setSearch,
}: SearchState<typeof LOGS_SEARCH> & {
  readonly question: LogSearch;
}): ReactNode {
  const { data } = useQuery({
    queryKey: ['log-histogram', question],
    queryFn: ({ signal }) => call('POST /logs/histogram', { body: { ...question, buckets: BUCKETS }, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: question.end_time === undefined ? REFRESH_MS : false,
  });
  // Without a record or a range the engine answers from 0 to 1: there is no time axis to draw.
  if (data === undefined || data.end_time <= 1) return <div className="h-[88px] shrink-0 border-b border-line" />;
  return (
    <div className="flex h-[88px] shrink-0 border-b border-line bg-panel max-lg:h-28 max-lg:flex-col">
      <Bars
        histogram={data}
        onRange={(from, to) => setSearch({ from: String(from), to: String(to) }, { push: true })}
      />
      <Services
        services={data.services.slice(0, SERVICES_SHOWN)}
        chosen={search.svc}
        choose={(service) => setSearch({ svc: service })}
      />
    </div>
  );
}

interface ServicesProps {
  readonly services: LogHistogram['services'];
  readonly chosen: string;
  readonly choose: (service: string) => void;
}

function Services({ services, chosen, choose }: ServicesProps): ReactNode {
  return (
    <div
      className={
        'flex w-72 shrink-0 flex-wrap content-center gap-1 overflow-hidden border-l border-line px-2 py-1 ' +
        'max-lg:w-full max-lg:border-l-0'
      }
      role="group"
      aria-label="Services"
    >
      {services.map(({ value, count }) => (
        <button
          key={value}
          type="button"
          aria-pressed={chosen === value}
          onClick={() => choose(chosen === value ? '' : value)}
          className={
            'h-6 max-w-36 truncate rounded-full border border-line px-2 text-xs text-muted ' +
            'hover:border-line-strong hover:text-text aria-pressed:border-accent aria-pressed:bg-accent-soft ' +
            'aria-pressed:text-accent'
          }
        >
          {visibleText(value)} {formatCount(count)}
        </button>
      ))}
    </div>
  );
}

function Bars({
  histogram,
  onRange,
}: {
  readonly histogram: LogHistogram;
  readonly onRange: (fromMs: number, toMs: number) => void;
}): ReactNode {
  const { buckets, bucket_ms: bucketMs, start_time: start, end_time: end } = histogram;
  const [drag, setDrag] = useState<readonly [from: number, to: number]>();
  const [hovered, setHovered] = useState<number>();
  const sums = buckets.map((bucket) => STACK.reduce((sum, [word]) => sum + bucket[word], 0));
  const top = Math.max(1, ...sums);
  const total = sums.reduce((sum, one) => sum + one, 0);
  const [from, to] = [formatLocal(start), formatLocal(end)];
  const barWidth = Math.min(BAR_WIDTH, buckets.length * BAR_SHARE_MAX);
  return (
    <div className="relative min-h-0 min-w-0 flex-1 px-2 pt-1">
      <svg
        role="img"
        aria-label={`${formatCountOf(total, 'record')} from ${from} to ${to}; drag to choose a range`}
        viewBox={`0 0 ${buckets.length} 100`}
        preserveAspectRatio="none"
        className="block h-[calc(100%-16px)] w-full cursor-crosshair touch-none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = shareAt(event);
          setDrag([at, at]);
        }}
        onPointerMove={(event) => {
          const at = shareAt(event);
          setHovered(Math.min(buckets.length - 1, Math.floor(at * buckets.length)));
          if (drag !== undefined) setDrag([drag[0], at]);
        }}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={(event) => {
          setDrag(undefined);
          if (drag === undefined) return;
          // The last move may not have been drawn yet: the event has the position of the pointer.
          const at = shareAt(event);
          const [low, high] = drag[0] < at ? [drag[0], at] : [at, drag[0]];
          const timeAt = (share: number): number => start + share * buckets.length * bucketMs;
          if ((high - low) * buckets.length >= 0.3) onRange(Math.floor(timeAt(low)), Math.ceil(timeAt(high)));
        }}
      >
        {buckets.map((one, at) => (
          <Bar key={one.start} bucket={one} at={at} top={top} opacity={at === hovered ? 1 : 0.8} width={barWidth} />
        ))}
        {drag !== undefined && (
          <rect
            x={Math.min(...drag) * buckets.length}
            y={0}
            width={Math.abs(drag[1] - drag[0]) * buckets.length}
            height={100}
            className="fill-accent-soft"
            opacity={0.7}
          />
        )}
      </svg>
      <Feet start={start} end={end} bucket={hovered === undefined ? undefined : buckets[hovered]} />
    </div>
  );
}

/** The position of the pointer, as a fraction of the width. */
function shareAt(event: ReactPointerEvent<SVGSVGElement>): number {
  const box = event.currentTarget.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width)));
}

/** A fraction of its bucket's width. With few buckets, a fraction of the whole width, or one record would fill it. */
const BAR_WIDTH = 0.84;
const BAR_SHARE_MAX = 0.03;

type Bucket = LogHistogram['buckets'][number];

interface BarProps {
  readonly bucket: Bucket;
  readonly at: number;
  /** The highest sum of any bucket. */
  readonly top: number;
  readonly opacity: number;
  /** Of the bucket's height. */
  readonly width: number;
}

function Bar({ bucket, at, top, opacity, width }: BarProps): ReactNode {
  let y = 100;
  return STACK.map(([word, fill]) => {
    if (bucket[word] === 0) return undefined;
    const height = Math.max(1.5, (bucket[word] / top) * 100);
    y -= height;
    return (
      <rect
        key={word}
        x={at + (1 - width) / 2}
        y={Math.max(0, y)}
        width={width}
        height={height}
        className={fill}
        opacity={opacity}
      />
    );
  });
}

interface FeetProps {
  readonly start: number;
  readonly end: number;
  readonly bucket: Bucket | undefined;
}

function Feet({ start, end, bucket }: FeetProps): ReactNode {
  return (
    <div className="flex h-4 justify-between text-xs text-faint">
      <span>{formatLocal(start).slice(5, 19)}</span>
      {bucket !== undefined && (
        <span className="text-muted">
          {formatLocal(bucket.start).slice(11, 19)}:{' '}
          {STACK.filter(([word]) => bucket[word] > 0)
            .map(([word]) => `${bucket[word]} ${word}`)
            .join(', ') || 'nothing'}
        </span>
      )}
      <span>{formatLocal(end).slice(5, 19)}</span>
    </div>
  );
}
