// Traces as points: start and duration, on a logarithmic scale (TRC-1). Dragging selects a range of both. The filter
// form does the same without a pointer.

import { type ReactNode, useCallback, useMemo, useState } from 'react';
import type { TraceRow } from '../../../../api/telemetry.ts';
import { formatDuration, formatLocal } from '../../../kit/charts/times.ts';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import { spanWords } from '../logic/span-words.ts';
import { Canvas, type CanvasSize, type Draw, placeOf } from '../views/canvas.tsx';
import { useCanvasColours } from '../views/colours.ts';

export interface ScatterProps {
  readonly rows: readonly TraceRow[];
  readonly onOpen: (row: TraceRow) => void;
  /** The selected range: Unix milliseconds and milliseconds, as in filters. */
  readonly onSelect: (area: Readonly<Record<'from' | 'to' | 'min' | 'max', string>>) => void;
}

interface Field {
  readonly fromMs: number;
  readonly toMs: number;
  readonly lowLog: number;
  readonly highLog: number;
}

/** The start and end of the drag, in pixels of the plot. */
interface Area {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

const PAD = { left: 52, right: 14, top: 8, bottom: 18 } as const;
const NEAR_PX = 7;

export function Scatter({ rows, onOpen, onSelect }: ScatterProps): ReactNode {
  const colours = useCanvasColours();
  const field = useMemo(() => fieldOf(rows), [rows]);
  const [size, setSize] = useState<CanvasSize>({ width: 0, height: 0 });
  const [near, setNear] = useState<TraceRow>();
  const [area, setArea] = useState<Area>();
  const draw: Draw = useCallback(
    (context, own) => {
      context.font = colours.font;
      drawAxes(context, own, field, colours);
      for (const row of rows) {
        const { x, y } = pointOf(field, own, row);
        context.globalAlpha = row === near ? 1 : 0.75;
        drawPoint(context, row.status, x, y, row === near ? 5.5 : 3.5, colours);
      }
      context.globalAlpha = 1;
    },
    [rows, field, colours, near],
  );
  return (
    <div
      className="relative h-32 shrink-0 cursor-crosshair touch-none border-b border-line bg-panel select-none"
      onPointerMove={(event) => {
        const { x, y } = placeOf(event);
        setNear(nearestRow(rows, field, size, x, y));
        if (area !== undefined) setArea({ ...area, x2: x, y2: y });
      }}
      onPointerLeave={() => setNear(undefined)}
      onPointerDown={(event) => {
        const { x, y } = placeOf(event);
        event.currentTarget.setPointerCapture(event.pointerId);
        setArea({ x1: x, y1: y, x2: x, y2: y });
      }}
      onPointerUp={(event) => {
        const { x, y } = placeOf(event);
        setArea(undefined);
        if (area === undefined || (Math.abs(x - area.x1) < 5 && Math.abs(y - area.y1) < 5)) {
          const row = nearestRow(rows, field, size, x, y);
          if (row !== undefined) onOpen(row);
          return;
        }
        onSelect(selectionOf(field, size, area.x1, area.y1, x, y));
      }}
    >
      <Canvas
        draw={draw}
        onSize={setSize}
        label={`${rows.length} traces by start and duration; the table below lists them`}
        className="block h-full w-full"
      />
      {area !== undefined && <Frame {...area} />}
      {near !== undefined && area === undefined && <Near row={near} />}
    </div>
  );
}

/** The range that is being dragged over. */
function Frame({ x1, y1, x2, y2 }: Area): ReactNode {
  return (
    <div
      className="pointer-events-none absolute border border-accent bg-accent-soft opacity-60"
      style={{
        left: Math.min(x1, x2),
        top: Math.min(y1, y2),
        width: Math.abs(x2 - x1),
        height: Math.abs(y2 - y1),
      }}
    />
  );
}

function Near({ row }: { readonly row: TraceRow }): ReactNode {
  return (
    <p className="pointer-events-none absolute top-1 right-3 max-w-3/5 truncate rounded-md bg-raised px-2 text-sm">
      {visibleText(spanWords(row.name, true))} · {formatDuration(row.duration_ms)} · {row.status}
    </p>
  );
}

function nearestRow(
  rows: readonly TraceRow[],
  field: Field,
  size: CanvasSize,
  x: number,
  y: number,
): TraceRow | undefined {
  let best: { row: TraceRow; distance: number } | undefined;
  for (const row of rows) {
    const point = pointOf(field, size, row);
    const distance = Math.hypot(point.x - x, point.y - y);
    if (distance <= NEAR_PX && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { row, distance };
  }
  return best?.row;
}

function fieldOf(rows: readonly TraceRow[]): Field {
  let [fromMs, toMs, low, high] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0];
  for (const row of rows) {
    const at = row.start_time_unix_nano / 1e6;
    fromMs = Math.min(fromMs, at);
    toMs = Math.max(toMs, at);
    // The duration of a running trace is not known: it is drawn at the lower edge and does not change the scale.
    if (row.status === 'pending') continue;
    low = Math.min(low, Math.max(row.duration_ms, 0.001));
    high = Math.max(high, row.duration_ms, 0.001);
  }
  const slackMs = Math.max(500, (toMs - fromMs) * 0.02);
  const lowLog = Number.isFinite(low) ? Math.floor(Math.log10(low)) : 0;
  return {
    fromMs: fromMs - slackMs,
    toMs: toMs + slackMs,
    lowLog,
    highLog: Math.max(lowLog + 1, Math.ceil(Math.log10(Math.max(high, 0.001)) + 0.05)),
  };
}

function pointOf(field: Field, size: CanvasSize, row: TraceRow): { x: number; y: number } {
  const width = size.width - PAD.left - PAD.right;
  const height = size.height - PAD.top - PAD.bottom;
  const across = (row.start_time_unix_nano / 1e6 - field.fromMs) / (field.toMs - field.fromMs);
  const up =
    (Math.max(Math.log10(Math.max(row.duration_ms, 0.001)), field.lowLog) - field.lowLog) /
    (field.highLog - field.lowLog);
  return { x: PAD.left + across * width, y: PAD.top + (1 - up) * height };
}

function selectionOf(
  field: Field,
  size: CanvasSize,
  x1: number,
  y1: number,
  x2: number,
  y2: number,
): Record<'from' | 'to' | 'min' | 'max', string> {
  const width = size.width - PAD.left - PAD.right;
  const height = size.height - PAD.top - PAD.bottom;
  const timeAt = (x: number): number =>
    field.fromMs + (Math.min(Math.max(x - PAD.left, 0), width) / width) * (field.toMs - field.fromMs);
  const msAt = (y: number): number =>
    10 ** (field.lowLog + (1 - Math.min(Math.max(y - PAD.top, 0), height) / height) * (field.highLog - field.lowLog));
  return {
    from: String(Math.floor(timeAt(Math.min(x1, x2)))),
    to: String(Math.ceil(timeAt(Math.max(x1, x2)))),
    min: String(Number(msAt(Math.max(y1, y2)).toPrecision(3))),
    max: String(Number(msAt(Math.min(y1, y2)).toPrecision(3))),
  };
}

type Colours = ReturnType<typeof useCanvasColours>;

function drawAxes(context: CanvasRenderingContext2D, size: CanvasSize, field: Field, colours: Colours): void {
  context.textBaseline = 'middle';
  context.textAlign = 'right';
  const height = size.height - PAD.top - PAD.bottom;
  const decades = field.highLog - field.lowLog;
  const every = Math.max(1, Math.ceil(decades / 4));
  for (let decade = field.lowLog; decade <= field.highLog; decade += every) {
    const y = PAD.top + (1 - (decade - field.lowLog) / decades) * height;
    context.fillStyle = colours.line;
    context.fillRect(PAD.left, Math.round(y), size.width - PAD.left - PAD.right, 1);
    context.fillStyle = colours.faint;
    context.fillText(
      formatDuration(10 ** decade)
        .replace('.00', '')
        .replace('.0', ''),
      PAD.left - 6,
      y,
    );
  }
  context.textAlign = 'left';
  context.fillText(formatLocal(field.fromMs).slice(11, 19), PAD.left, size.height - 8);
  context.textAlign = 'right';
  context.fillText(formatLocal(field.toMs).slice(11, 19), size.width - PAD.right, size.height - 8);
  context.textAlign = 'left';
}

/** Circle, square, ring: distinguishable without colour (ACC-2). */
function drawPoint(
  context: CanvasRenderingContext2D,
  status: TraceRow['status'],
  x: number,
  y: number,
  radius: number,
  colours: Colours,
): void {
  if (status === 'error') {
    context.fillStyle = colours.bad;
    context.fillRect(x - radius, y - radius, radius * 2, radius * 2);
    return;
  }
  context.beginPath();
  context.arc(x, y, radius, 0, Math.PI * 2);
  if (status === 'pending') {
    context.strokeStyle = colours.warn;
    context.lineWidth = 1.5;
    context.stroke();
  } else {
    context.fillStyle = colours.accent;
    context.fill();
  }
}
