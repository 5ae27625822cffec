// The flame graph (TRC-12): in time order on the trace's time axis, or by name, where width is a share of the time.
// Both are boxes on lanes. The worker computes the layout; the page draws the visible part.

import {
  type ReactNode,
  type WheelEvent as ReactWheelEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { panned, type TimeRange, xOf, zoomed } from '../../../kit/charts/time-scale.ts';
import { formatCount, formatCountOf, formatDuration } from '../../../kit/charts/times.ts';
import { Segments } from '../../../kit/inputs/field.tsx';
import { visibleText } from '../../../kit/json/logic/visible-text.ts';
import type { FlameBlock } from '../logic/flame-layout.ts';
import { rowWords } from '../logic/span-words.ts';
import { FLAG } from '../logic/trace-columns.ts';
import { realMs } from '../logic/trace-gaps.ts';
import type { TraceView } from '../logic/trace-session.ts';
import type { TraceClient } from '../trace/use-trace.ts';
import { Canvas, type Draw, placeOf, Ruler, useHeight } from './canvas.tsx';
import { type CanvasColours, useCanvasColours } from './colours.ts';
import { Minimap } from './minimap.tsx';

export interface FlameProps {
  readonly client: TraceClient;
  readonly view: TraceView;
  readonly serviceColours: readonly string[];
  readonly range: TimeRange;
  readonly whole: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  readonly order: 'time' | 'name';
  readonly onOrder: (order: 'time' | 'name') => void;
  readonly selected: number | undefined;
  readonly onSelect: (row: number) => void;
  readonly found: Uint8Array | null;
}

/** A box of either flame graph. `from` and `to` are milliseconds, or by name thousandths of the whole. */
interface Box {
  readonly lane: number;
  readonly from: number;
  readonly to: number;
  readonly row: number;
  readonly block: FlameBlock | undefined;
}

const LANE_PX = 19;
const NAME_WHOLE: TimeRange = { fromMs: 0, toMs: 1_000 };

export function Flame(props: FlameProps): ReactNode {
  const { client, view, order, whole } = props;
  const [blocks, setBlocks] = useState<readonly FlameBlock[]>([]);
  const [nameRange, setNameRange] = useState(NAME_WHOLE);
  useEffect(() => {
    if (order !== 'name') return;
    let isCurrent = true;
    // A new view has a new layout.
    void client.ask({ op: 'flame' }).then((next) => isCurrent && view !== undefined && setBlocks(next));
    return () => {
      isCurrent = false;
    };
  }, [client, order, view]);
  const lanes = useMemo(() => lanesOf(order === 'time' ? timeBoxes(view) : nameBoxes(blocks)), [order, view, blocks]);
  const range = order === 'time' ? props.range : nameRange;
  const onRange = order === 'time' ? props.onRange : setNameRange;
  const colours = useCanvasColours();
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 items-center gap-3 border-b border-line px-3 py-1.5">
        <Segments
          label="Order of the flame graph"
          value={order}
          onChange={props.onOrder}
          choices={[
            { value: 'time', label: 'In time order' },
            { value: 'name', label: 'By name' },
          ]}
        />
        <span className="min-w-0 truncate text-sm text-muted">
          {order === 'time'
            ? 'Width is time, depth is nesting. Click a span to see it, double-click to zoom to it.'
            : 'Equal paths are one box; its width is its share of all time spent. Double-click to zoom.'}
        </span>
        {view.lanes.crowdedCount > 0 && order === 'time' && (
          <span className="text-sm text-warn">
            {formatCount(view.lanes.crowdedCount)} parallel spans share the last lane
          </span>
        )}
      </div>
      {order === 'time' && (
        <div className="shrink-0 border-b border-line">
          <Minimap {...props} />
          <Ruler range={props.range} colours={colours} gaps={props.view.gaps} />
        </div>
      )}
      <FlameCanvas
        {...props}
        lanes={lanes}
        range={range}
        whole={order === 'time' ? whole : NAME_WHOLE}
        onRange={onRange}
      />
    </div>
  );
}

function timeBoxes({ columns, lanes }: TraceView): Box[] {
  return Array.from({ length: columns.count }, (_, row) => ({
    lane: lanes.lane[row] ?? 0,
    from: columns.startMs[row] ?? 0,
    to: columns.endMs[row] ?? 0,
    row,
    block: undefined,
  }));
}

function nameBoxes(blocks: readonly FlameBlock[]): Box[] {
  return blocks.map((block) => ({
    lane: block.depth,
    from: block.from * 1_000,
    to: (block.from + block.width) * 1_000,
    row: block.row,
    block,
  }));
}

function lanesOf(boxes: readonly Box[]): Box[][] {
  const lanes: Box[][] = [];
  for (const box of boxes) {
    while (lanes.length <= box.lane) lanes.push([]);
    lanes[box.lane]?.push(box);
  }
  for (const lane of lanes) lane.sort((a, b) => a.from - b.from);
  return lanes;
}

interface FlameCanvasProps extends FlameProps {
  readonly lanes: readonly (readonly Box[])[];
}

function FlameCanvas(props: FlameCanvasProps): ReactNode {
  const { view, lanes, range, whole, onRange, selected, onSelect, found, serviceColours } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const colours = useCanvasColours();
  const [scrollTop, setScrollTop] = useState(0);
  const height = useHeight(scroller);
  const [hovered, setHovered] = useState<{ readonly box: Box; readonly x: number; readonly y: number }>();
  const draw: Draw = useCallback(
    (context, size) => {
      context.font = colours.font;
      context.textBaseline = 'middle';
      const first = Math.floor(scrollTop / LANE_PX);
      const last = Math.min(lanes.length, Math.ceil((scrollTop + size.height) / LANE_PX));
      const scale = { ...range, widthPx: size.width };
      for (let lane = first; lane < last; lane += 1) {
        const top = lane * LANE_PX - scrollTop;
        drawLane(context, { boxes: lanes[lane] ?? [], top, scale, view, colours, serviceColours, selected, found });
      }
    },
    [view, lanes, range, colours, serviceColours, scrollTop, selected, found],
  );
  const boxAt = (event: { clientX: number; clientY: number; currentTarget: Element }): Box | undefined => {
    const { x, y } = placeOf(event);
    const width = event.currentTarget.clientWidth;
    const at = range.fromMs + (x / Math.max(1, width)) * (range.toMs - range.fromMs);
    const slack = (range.toMs - range.fromMs) / Math.max(1, width);
    return lanes[Math.floor((y + scrollTop) / LANE_PX)]?.find((box) => box.from <= at && at <= box.to + slack);
  };
  return (
    <div
      ref={scroller}
      className="relative min-h-0 flex-1 overflow-x-hidden overflow-y-auto"
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      role="region"
      aria-label="Flame graph; the waterfall has the same spans as a tree"
    >
      <div style={{ height: Math.max(lanes.length * LANE_PX + 8, height) }}>
        <Canvas
          draw={draw}
          className="sticky top-0 block w-full cursor-pointer"
          style={{ height }}
          onPointerMove={(event) => {
            const box = boxAt(event);
            setHovered(box === undefined ? undefined : { box, ...placeOf(event) });
          }}
          onPointerLeave={() => setHovered(undefined)}
          onClick={(event) => {
            const box = boxAt(event);
            if (box !== undefined) onSelect(box.row);
          }}
          onDoubleClick={(event) => {
            const box = boxAt(event);
            onRange(box === undefined ? whole : { fromMs: box.from, toMs: Math.max(box.to, box.from + 1e-4) });
          }}
          onWheel={(event) => {
            const next = wheeled(event, range, whole);
            if (next !== undefined) onRange(next);
          }}
        />
      </div>
      {hovered !== undefined && <FlameTip view={view} {...hovered.box} x={hovered.x} y={hovered.y + scrollTop} />}
    </div>
  );
}

/** Horizontal scrolling moves the range, Ctrl zooms at the pointer, plain scrolling scrolls the lanes. */
function wheeled(event: ReactWheelEvent, range: TimeRange, whole: TimeRange): TimeRange | undefined {
  const span = range.toMs - range.fromMs;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    return panned(range, whole, ((event.deltaX || event.deltaY) / 600) * span);
  }
  if (!event.ctrlKey && !event.metaKey) return undefined;
  const share = placeOf(event).x / Math.max(1, event.currentTarget.clientWidth);
  return zoomed(range, whole, range.fromMs + share * span, event.deltaY > 0 ? 1.25 : 0.8);
}

interface Lane {
  readonly boxes: readonly Box[];
  readonly top: number;
  readonly scale: TimeRange & { readonly widthPx: number };
  readonly view: TraceView;
  readonly colours: CanvasColours;
  readonly serviceColours: readonly string[];
  readonly selected: number | undefined;
  readonly found: Uint8Array | null;
}

const TEXT_PX_MIN = 34;

function drawLane(context: CanvasRenderingContext2D, lane: Lane): void {
  const { columns } = lane.view;
  let paintedTo = -1;
  for (const box of lane.boxes) {
    if (box.to < lane.scale.fromMs) continue;
    if (box.from > lane.scale.toMs) break;
    const x = Math.max(0, xOf(lane.scale, box.from));
    const to = Math.min(lane.scale.widthPx, Math.max(x + 1, xOf(lane.scale, box.to)));
    const isError =
      box.block === undefined ? ((columns.flags[box.row] ?? 0) & FLAG.error) !== 0 : box.block.errorCount > 0;
    // Boxes narrower than a pixel that share it are one stroke (TRC-9).
    if (to <= paintedTo && !isError && box.row !== lane.selected) continue;
    paintedTo = to;
    context.globalAlpha = lane.found !== null && lane.found[box.row] !== 1 ? 0.25 : 1;
    context.fillStyle = lane.serviceColours[columns.serviceOf[box.row] ?? 0] ?? lane.colours.muted;
    context.fillRect(x, lane.top + 1, Math.max(1, to - x - (to - x > 3 ? 1 : 0)), LANE_PX - 2);
    if (isError) {
      context.fillStyle = lane.colours.bad;
      context.fillRect(x, lane.top + LANE_PX - 4, Math.max(1, to - x - 1), 3);
    }
    if (box.row === lane.selected) {
      context.strokeStyle = lane.colours.text;
      context.lineWidth = 2;
      context.strokeRect(x + 1, lane.top + 2, Math.max(1, to - x - 3), LANE_PX - 4);
    }
    if (to - x < TEXT_PX_MIN) continue;
    context.save();
    context.beginPath();
    context.rect(x + 4, lane.top, to - x - 8, LANE_PX);
    context.clip();
    context.fillStyle = lane.colours.theme === 'dark' ? lane.colours.ground : '#fff';
    const count = (box.block?.count ?? 1) > 1 ? ` ×${box.block?.count}` : '';
    context.fillText(`${rowWords(columns, box.row)}${count}`, x + 5, lane.top + LANE_PX / 2 + 0.5);
    context.restore();
  }
  context.globalAlpha = 1;
}

export interface FlameTipProps {
  readonly view: TraceView;
  readonly row: number;
  readonly block: FlameBlock | undefined;
  /** Relative to the left and top of the scrolled content. */
  readonly x: number;
  readonly y: number;
}

function FlameTip({ view, row, block, x, y }: FlameTipProps): ReactNode {
  const { columns } = view;
  const isLeft = x < innerWidth / 2;
  return (
    <div
      className={
        'pointer-events-none absolute z-20 max-w-sm rounded-lg border border-line bg-raised px-3 py-2 text-sm ' +
        'shadow-float'
      }
      style={{ top: y + 16, ...(isLeft ? { left: x + 12 } : { right: `calc(100% - ${x - 8}px)` }) }}
    >
      <p className="font-medium break-words">{visibleText(rowWords(columns, row))}</p>
      <p className="text-muted">{visibleText(columns.services[columns.serviceOf[row] ?? 0] ?? '')}</p>
      {block === undefined ? (
        <p>
          {formatDuration((columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0))}, own{' '}
          {formatDuration(columns.selfMs[row] ?? 0)}, at {formatDuration(realMs(view.gaps, columns.startMs[row] ?? 0))}
        </p>
      ) : (
        <p>
          {formatCountOf(block.count, 'span')}, {formatDuration(block.totalMs)} with all below, own{' '}
          {formatDuration(block.selfMs)}
          {block.errorCount > 0 && `, ${block.errorCount} errors`}
        </p>
      )}
    </div>
  );
}
