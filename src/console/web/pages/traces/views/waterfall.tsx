// The waterfall (TRC-5): a tree of rows next to a time axis. Only visible rows are in the document. Keyboard and screen
// readers use the rows; the canvas next to them only draws. The width of the names is dragged or moved with the arrow
// keys, and kept in this browser.

import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type ReactNode, useCallback, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useKeys } from '../../../app/keys.ts';
import { keep, readKept } from '../../../data/preferences.ts';
import type { TimeRange } from '../../../kit/charts/time-scale.ts';
import { FLAG } from '../logic/trace-columns.ts';
import { hasChildren, isOpen, type Rows } from '../logic/trace-rows.ts';
import { Canvas, type Draw, Ruler, useHeight } from './canvas.tsx';
import { useCanvasColours } from './colours.ts';
import { drawWaterfall, type RowIndex } from './draw-waterfall.ts';
import { Minimap, type MinimapProps } from './minimap.tsx';
import { type SharedRowProps, WATERFALL_ROW_PX, WaterfallRow } from './waterfall-row.tsx';

export interface WaterfallProps extends SharedRowProps {
  readonly index: RowIndex;
  readonly range: TimeRange;
  readonly whole: TimeRange;
  readonly onRange: MinimapProps['onRange'];
  readonly onSelect: (row: number) => void;
}

const OVERSCAN = 8;

export function Waterfall(props: WaterfallProps): ReactNode {
  const { view, rows, selected, onSelect } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const names = useNameWidth();
  const colours = useCanvasColours();
  const virtual = useVirtualizer({
    count: rows.entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => WATERFALL_ROW_PX,
    overscan: OVERSCAN,
  });
  const [active, setActive] = useActiveRow(rows, selected);
  const scrollTop = virtual.scrollOffset ?? 0;
  const viewHeight = useHeight(scroller);
  const { index, serviceColours, range, found, showsPath } = props;
  const draw: Draw = useCallback(
    (context, size) =>
      drawWaterfall(context, size, {
        ...{ view, rows, index, colours, serviceColours, range, scrollTop, selected, found, showsPath },
        rowPx: WATERFALL_ROW_PX,
      }),
    [view, rows, index, colours, serviceColours, range, scrollTop, selected, found, showsPath],
  );
  useWaterfallKeys({ ...props, active, setActive, scrollTo: (at) => virtual.scrollToIndex(at), focus: scroller });
  useSelectionInSight(rows, selected, (at) => virtual.scrollToIndex(at, { align: 'auto' }));
  const template = { gridTemplateColumns: `${names.width}px minmax(0, 1fr)` };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <Head {...props} names={names} template={template} />
      <div
        ref={scroller}
        role="treegrid"
        aria-label="Spans"
        aria-rowcount={rows.entries.length}
        aria-activedescendant={rows.entries.length > 0 ? `${gridId}-${active}` : undefined}
        tabIndex={0}
        className="min-h-0 flex-1 overflow-x-hidden overflow-y-auto -outline-offset-2"
      >
        <div className="relative" style={{ height: Math.max(virtual.getTotalSize(), viewHeight) }}>
          <div className="sticky top-0 grid" style={{ ...template, height: viewHeight }} aria-hidden>
            <div className="border-r border-line" />
            <Canvas draw={draw} className="block h-full w-full" />
          </div>
          <div className="absolute inset-x-0 top-0">
            {virtual.getVirtualItems().map(({ index: at, start }) => (
              <WaterfallRow
                key={rows.entries[at]}
                {...props}
                id={`${gridId}-${at}`}
                at={at}
                top={start}
                nameWidth={names.width}
                isActive={at === active}
                activate={() => {
                  setActive(at);
                  const entry = rows.entries[at] ?? -1;
                  if (entry >= 0) onSelect(entry);
                }}
              />
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

type HeadProps = WaterfallProps & { readonly names: NameWidth; readonly template: CSSProperties };

function Head({ names, template, ...props }: HeadProps): ReactNode {
  const colours = useCanvasColours();
  return (
    <div className="grid shrink-0 border-b border-line" style={template}>
      <div className="relative flex items-end border-r border-line bg-panel px-3 pb-1 text-xs font-medium text-muted">
        Span
        <NameEdge {...names} />
      </div>
      <div className="min-w-0 bg-panel">
        <Minimap {...props} />
        <Ruler range={props.range} colours={colours} gaps={props.view.gaps} />
      </div>
    </div>
  );
}

/** The active row follows a selection made elsewhere, and stays inside the list. */
function useActiveRow(rows: Rows, selected: number | undefined): [number, (at: number) => void] {
  const [active, setActive] = useState(0);
  useEffect(() => {
    const at = selected === undefined ? -1 : rows.entries.indexOf(selected);
    if (at !== -1) setActive(at);
  }, [selected, rows]);
  return [Math.min(active, Math.max(0, rows.entries.length - 1)), setActive];
}

/** Only a selection scrolls the view, not new rows (TRC-16). */
function useSelectionInSight(rows: Rows, selected: number | undefined, show: (at: number) => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that come move nothing
  useEffect(() => {
    const at = selected === undefined ? -1 : rows.entries.indexOf(selected);
    if (at !== -1) show(at);
  }, [selected]);
}

interface WaterfallKeys extends WaterfallProps {
  readonly active: number;
  readonly setActive: (at: number) => void;
  readonly scrollTo: (at: number) => void;
  readonly focus: { readonly current: HTMLElement | null };
}

function useWaterfallKeys(keys: WaterfallKeys): void {
  const { rows, view, rowsView, active } = keys;
  const columns = view.columns;
  const move = (to: number): void => {
    const at = Math.min(Math.max(to, 0), rows.entries.length - 1);
    if (at < 0) return;
    keys.focus.current?.focus({ preventScroll: true });
    keys.setActive(at);
    keys.scrollTo(at);
  };
  const entry = rows.entries[active] ?? -1;
  const page = Math.max(1, Math.floor((keys.focus.current?.clientHeight ?? 400) / WATERFALL_ROW_PX) - 2);
  const openOrIn = (): void => {
    const fold = entry < 0 ? rows.folds[-1 - entry] : undefined;
    if (fold !== undefined) return fold.isOpen ? move(active + 1) : keys.onToggleFold(fold.key);
    if (((columns.flags[entry] ?? 0) & FLAG.unloaded) !== 0) return keys.onLoadBelow(entry);
    if (!hasChildren(columns, entry)) return;
    if (isOpen(columns, rowsView, entry)) move(active + 1);
    else keys.onToggle(entry);
  };
  const closeOrOut = (): void => {
    const fold = entry < 0 ? rows.folds[-1 - entry] : undefined;
    if (fold?.isOpen) return keys.onToggleFold(fold.key);
    if (entry >= 0 && hasChildren(columns, entry) && isOpen(columns, rowsView, entry)) return keys.onToggle(entry);
    const depth = rows.depths[active] ?? 0;
    for (let at = active - 1; at >= 0; at -= 1) if ((rows.depths[at] ?? 0) < depth) return move(at);
  };
  const select = (at: number): void => {
    const row = rows.entries[at];
    if (row === undefined) return;
    if (row >= 0) keys.onSelect(row);
    else keys.onToggleFold(rows.folds[-1 - row]?.key ?? '');
  };
  const step = (by: number): void => {
    const at = Math.min(Math.max(active + by, 0), rows.entries.length - 1);
    move(at);
    if ((rows.entries[at] ?? -1) >= 0) select(at);
  };
  useKeys([
    { keys: ['j', 'ArrowDown'], name: 'Next span', run: () => move(active + 1) },
    { keys: ['k', 'ArrowUp'], name: 'Previous span', run: () => move(active - 1) },
    { keys: ['Home'], name: 'First span', run: () => move(0) },
    { keys: ['End'], name: 'Last span', run: () => move(rows.entries.length - 1) },
    { keys: ['PageDown'], name: 'A page down', run: () => move(active + page) },
    { keys: ['PageUp'], name: 'A page up', run: () => move(active - page) },
    { keys: ['ArrowRight'], name: 'Open the span or go into it', run: openOrIn },
    { keys: ['ArrowLeft'], name: 'Close the span or go out of it', run: closeOrOut },
    { keys: ['Enter'], name: 'Show the span', run: () => select(active) },
    { keys: ['['], name: 'Show the previous span', run: () => step(-1) },
    { keys: [']'], name: 'Show the next span', run: () => step(1) },
  ]);
}

const NAME_WIDTH_KEY = 'svc.trace-names';
const NAME_MIN = 140;

interface NameWidth {
  readonly width: number;
  readonly resize: (to: number) => void;
}

function useNameWidth(): NameWidth {
  const [width, setWidth] = useState<number>(() => {
    const kept = readKept(NAME_WIDTH_KEY);
    return typeof kept === 'number' ? kept : 340;
  });
  return useMemo(() => {
    const most = Math.round(innerWidth * 0.6);
    const resize = (to: number): void => {
      const kept = Math.round(Math.min(Math.max(to, NAME_MIN), most));
      setWidth(kept);
      keep(NAME_WIDTH_KEY, kept);
    };
    // On a small screen the names take half of it, even if a larger width was chosen on a large one.
    return { width: Math.min(width, Math.max(NAME_MIN, Math.round(innerWidth * 0.45))), resize };
  }, [width]);
}

function NameEdge({ width, resize }: NameWidth): ReactNode {
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the names"
      aria-valuenow={width}
      aria-valuemin={NAME_MIN}
      aria-valuemax={Math.round(innerWidth * 0.6)}
      tabIndex={0}
      className="absolute inset-y-0 -right-1 z-10 w-2 cursor-col-resize touch-none hover:bg-accent-soft"
      onKeyDown={(event) => {
        const by = event.key === 'ArrowLeft' ? -24 : event.key === 'ArrowRight' ? 24 : 0;
        if (by === 0) return;
        event.preventDefault();
        event.stopPropagation();
        resize(width + by);
      }}
      onPointerDown={(event) => {
        event.preventDefault();
        const edge = event.currentTarget;
        edge.setPointerCapture(event.pointerId);
        const [fromX, fromWidth] = [event.clientX, width];
        const move = (moved: PointerEvent): void => resize(fromWidth + moved.clientX - fromX);
        edge.addEventListener('pointermove', move);
        edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), {
          once: true,
        });
      }}
    />
  );
}
