// The whole trace as a small picture, above every view with a time axis (TRC-6): drag a range, drag the range itself,
// or zoom by wheel. Keys and buttons do the same.

import { type ReactNode, type PointerEvent as ReactPointerEvent, useCallback, useMemo, useRef, useState } from 'react';
import { msAt, panned, type TimeRange, type TimeScale, xOf, zoomed } from '../../../kit/charts/time-scale.ts';
import { formatDuration } from '../../../kit/charts/times.ts';
import { FLAG } from '../logic/trace-columns.ts';
import type { TraceView } from '../logic/trace-session.ts';
import { Canvas, type Draw, placeOf } from './canvas.tsx';
import { useCanvasColours } from './colours.ts';

export interface MinimapProps {
  readonly view: TraceView;
  readonly serviceColours: readonly string[];
  readonly range: TimeRange;
  readonly whole: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  readonly found: Uint8Array | null;
}

/** A shorter drag is a click. */
const DRAG_PX_MIN = 4;
const WHEEL_STEP = 1.25;

export function Minimap({ view, serviceColours, range, whole, onRange, found }: MinimapProps): ReactNode {
  const colours = useCanvasColours();
  const [width, setWidth] = useState(0);
  const scale: TimeScale = useMemo(() => ({ ...whole, widthPx: width }), [whole, width]);
  const draw: Draw = useCallback(
    (context, size) => {
      const own: TimeScale = { ...whole, widthPx: size.width };
      const { columns } = view;
      const lanes = Math.max(view.lanes.laneCount, 1);
      const lanePx = Math.max(1, Math.min(5, (size.height - 6) / lanes));
      const drawn = new Map<number, number>();
      for (let row = 0; row < columns.count; row += 1) {
        const lane = view.lanes.lane[row] ?? 0;
        const y = 2 + Math.min(lane * lanePx, size.height - 7);
        const x = xOf(own, columns.startMs[row] ?? 0);
        const to = Math.max(x + 1, xOf(own, columns.endMs[row] ?? 0));
        const isError = ((columns.flags[row] ?? 0) & FLAG.error) !== 0;
        // A pixel that an earlier span of the lane has painted needs no second stroke, except for errors.
        if (!isError && to <= (drawn.get(lane) ?? -1)) continue;
        drawn.set(lane, to);
        context.globalAlpha = found !== null && found[row] !== 1 ? 0.25 : 0.85;
        context.fillStyle = isError ? colours.bad : (serviceColours[columns.serviceOf[row] ?? 0] ?? colours.muted);
        context.fillRect(x, y, to - x, Math.max(1, lanePx - (lanePx > 2 ? 1 : 0)));
      }
      context.globalAlpha = 1;
      context.fillStyle = colours.text;
      view.path.spans.forEach((_, at) => {
        const x = xOf(own, view.path.fromMs[at] ?? 0);
        context.fillRect(x, size.height - 3, Math.max(1, xOf(own, view.path.toMs[at] ?? 0) - x), 2);
      });
    },
    [view, colours, serviceColours, whole, found],
  );
  const [left, right] = [xOf(scale, range.fromMs), xOf(scale, range.toMs)];
  const isZoomed = range.fromMs > whole.fromMs || range.toMs < whole.toMs;
  const drag = useRangeDrag(scale, range, whole, onRange, isZoomed);
  return (
    <div
      className="relative h-14 w-full cursor-crosshair touch-none overflow-hidden bg-ground"
      onPointerDown={drag.start}
      onWheel={(event) => {
        const centre = msAt(scale, placeOf(event).x);
        onRange(zoomed(range, whole, centre, event.deltaY > 0 ? WHEEL_STEP : 1 / WHEEL_STEP));
      }}
      title="Drag to zoom; drag the window to move it; wheel to zoom"
    >
      <Canvas
        draw={draw}
        onSize={(size) => setWidth(size.width)}
        label={
          `The whole trace, ${formatDuration(whole.toMs)} long; ` +
          `shown from ${formatDuration(range.fromMs)} to ${formatDuration(range.toMs)}`
        }
        className="block h-full w-full"
      />
      {(isZoomed || drag.selection !== undefined) && (
        <Chosen from={drag.selection?.[0] ?? left} to={drag.selection?.[1] ?? right} width={width} />
      )}
    </div>
  );
}

/** The visible part, or the part being dragged. The rest is shaded. */
function Chosen({ from, to, width }: Readonly<Record<'from' | 'to' | 'width', number>>): ReactNode {
  return (
    <>
      <Shade from={0} to={from} />
      <Shade from={to} to={width} />
      <div
        className="pointer-events-none absolute inset-y-0 border-x-2 border-accent"
        style={{ left: from, width: Math.max(2, to - from) }}
      />
    </>
  );
}

function Shade({ from, to }: { readonly from: number; readonly to: number }): ReactNode {
  return (
    <div
      className="pointer-events-none absolute inset-y-0 bg-ground opacity-70"
      style={{ left: from, width: Math.max(0, to - from) }}
    />
  );
}

interface RangeDrag {
  readonly selection: readonly [number, number] | undefined;
  readonly start: (event: ReactPointerEvent<HTMLElement>) => void;
}

/** A drag that begins inside a zoomed window moves it. Anywhere else it draws a new one. */
function useRangeDrag(
  scale: TimeScale,
  range: TimeRange,
  whole: TimeRange,
  onRange: (range: TimeRange) => void,
  isZoomed: boolean,
): RangeDrag {
  const [selection, setSelection] = useState<readonly [number, number]>();
  const latest = useRef({ scale, range, whole, onRange });
  latest.current = { scale, range, whole, onRange };
  const start = (event: ReactPointerEvent<HTMLElement>): void => {
    if (event.button !== 0) return;
    event.preventDefault();
    const area = event.currentTarget;
    const fromX = placeOf(event).x;
    const begun = latest.current;
    const fromMs = msAt(begun.scale, fromX);
    const isMove = isZoomed && fromMs > begun.range.fromMs && fromMs < begun.range.toMs;
    area.setPointerCapture(event.pointerId);
    let selected: readonly [number, number] | undefined;
    const move = (moved: PointerEvent): void => {
      const x = moved.clientX - area.getBoundingClientRect().left;
      if (isMove) {
        begun.onRange(panned(begun.range, begun.whole, msAt(begun.scale, x) - fromMs));
        return;
      }
      const inside = Math.min(Math.max(x, 0), begun.scale.widthPx);
      selected = fromX < inside ? [fromX, inside] : [inside, fromX];
      setSelection(selected);
    };
    const end = (): void => {
      area.removeEventListener('pointermove', move);
      setSelection(undefined);
      if (selected === undefined || selected[1] - selected[0] < DRAG_PX_MIN) return;
      begun.onRange({ fromMs: msAt(begun.scale, selected[0]), toMs: msAt(begun.scale, selected[1]) });
    };
    area.addEventListener('pointermove', move);
    area.addEventListener('lostpointercapture', end, { once: true });
  };
  return { selection, start };
}
