// The list of log records (LOG-1, LOG-2): plain rows of text, so that text can be selected across rows (LOG-7). Rows
// are measured when they are drawn, because messages wrap and open. Only visible rows are in the document. The time
// column reverses the order.

import { measureElement, useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type ReactNode, type RefObject, useCallback, useEffect, useId, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { preferences } from '../../data/preferences.ts';
import type { SearchState } from '../../data/search.ts';
import { useStore } from '../../data/store.ts';
import { FindBar, useListFind } from '../../kit/inputs/find-bar.tsx';
import { visibleText } from '../../kit/json/logic/visible-text.ts';
import { classes } from '../../kit/layout/classes.ts';
import { CELL_WIDTHS, RowContent } from './log-row.tsx';
import type { LogListRow } from './logic/log-rows.ts';
import type { LOGS_SEARCH } from './logs-search.ts';

export interface LogListProps extends SearchState<typeof LOGS_SEARCH> {
  readonly rows: readonly LogListRow[];
  readonly markedWords: readonly string[];
  readonly total: number | null;
  readonly more: (() => void) | undefined;
  readonly onScrolled: (isScrolled: boolean) => void;
  readonly onToggleGroup: (key: string) => void;
}

const ROW_PX = { comfortable: 28, compact: 22 } as const;
/** The height of the text, and the border below it. */
const LINE_PX = 19;
const NEAR_END_ROWS = 60;
const FOLLOW_PX = 4;

export function LogList(props: LogListProps): ReactNode {
  const { rows, search, setSearch, more, onScrolled } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const [active, setActive] = useState(0);
  const rowPx = ROW_PX[useStore(preferences).density];
  const virtual = useRowWindow(rows, scroller, rowPx, search.wrap);
  const shown = virtual.getVirtualItems();
  useMore(shown.at(-1)?.index ?? 0, rows.length, more);
  useAroundInSight(rows, search.around, (at) => virtual.scrollToIndex(at, { align: 'center' }));
  const go = (to: number): void => {
    setActive(to);
    virtual.scrollToIndex(to);
  };
  const { open } = useMoves({ rows, search, setSearch, scroller, active, go, toggle: props.onToggleGroup });
  const isLong = rows.length > shown.length;
  const find = useListFind({ count: rows.length, textOf: (at) => textOf(rows[at]), active, go, isLong });
  return (
    <div className="flex h-full flex-col">
      {find.isOpen && <FindBar find={find} scroller={scroller} />}
      <div
        ref={scroller}
        role="grid"
        aria-label="Log records"
        aria-rowcount={(props.total ?? rows.length) + 1}
        aria-activedescendant={rows.length > 0 ? `${gridId}-${Math.min(active, rows.length - 1)}` : undefined}
        tabIndex={0}
        data-list
        className="min-h-0 flex-1 overflow-auto -outline-offset-2"
        onScroll={(event) => onScrolled(event.currentTarget.scrollTop > FOLLOW_PX)}
      >
        <div className={classes('relative', !search.wrap && 'min-w-max')} style={{ height: virtual.getTotalSize() }}>
          <LogHead {...{ search, setSearch: props.setSearch }} />
          {shown.map(({ index, start, key }) => {
            const row = rows[index];
            if (row === undefined) return undefined;
            return (
              <LogLine
                key={key}
                {...props}
                {...{ row, index, rowPx }}
                id={`${gridId}-${index}`}
                top={start}
                measure={virtual.measureElement}
                isActive={index === active}
                activate={() => {
                  setActive(index);
                  open(index);
                }}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The visible rows, below the header. */
function useRowWindow(
  rows: readonly LogListRow[],
  scroller: RefObject<HTMLDivElement | null>,
  rowPx: number,
  isWrapped: boolean,
): Virtualizer<HTMLDivElement, HTMLElement> {
  // A new function here would make the list ask for the keys of all rows again.
  const getItemKey = useCallback((at: number) => keyOf(rows[at]), [rows]);
  return useVirtualizer<HTMLDivElement, HTMLElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    getItemKey,
    // Reading a height forces a layout of the page, which is slow with hundreds of records a second. The height of a
    // single-line row is known; if it ever differs, the observer, which passes an entry, corrects it.
    measureElement: (element, entry, instance) =>
      entry !== undefined || isWrapped || element.ariaSelected === 'true'
        ? measureElement(element, entry, instance)
        : rowPx,
    overscan: 16,
    paddingStart: LOG_HEAD_PX,
    scrollPaddingStart: LOG_HEAD_PX,
  });
}

interface Moves extends SearchState<typeof LOGS_SEARCH> {
  readonly rows: readonly LogListRow[];
  readonly scroller: RefObject<HTMLElement | null>;
  readonly active: number;
  readonly go: (to: number) => void;
  readonly toggle: (group: string) => void;
}

/** What keys and clicks do in the list. */
function useMoves({ rows, search, setSearch, scroller, active, go, toggle }: Moves): { open(at: number): void } {
  const within = (to: number): number => Math.min(Math.max(to, 0), rows.length - 1);
  const open = (at: number): void => {
    const row = rows[at];
    if (row?.kind === 'log') setSearch({ id: row.log.id === search.id ? undefined : row.log.id });
    if (row?.kind === 'group') toggle(row.key);
  };
  const move = (to: number): void => {
    scroller.current?.focus({ preventScroll: true });
    go(within(to));
  };
  const step = (by: number): void => {
    move(active + by);
    const row = rows[within(active + by)];
    if (row?.kind === 'log') setSearch({ id: row.log.id });
  };
  useListKeys({ active, last: rows.length - 1, move, open, step });
  return { open };
}

function textOf(row: LogListRow | undefined): string {
  if (row?.kind === 'log') return `${row.log.severity_text} ${row.log.service_name} ${row.log.body}`;
  return row?.kind === 'group' ? row.newest.body : '';
}

/** Reads more before the end is visible. */
function useMore(last: number, count: number, more: (() => void) | undefined): void {
  useEffect(() => {
    if (last >= count - NEAR_END_ROWS) more?.();
  }, [last, count, more]);
}

/** The requested record is in the middle of the records around it. */
function useAroundInSight(rows: readonly LogListRow[], around: string | undefined, show: (at: number) => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each record and each page of its surroundings
  useEffect(() => {
    const at = around === undefined ? -1 : rows.findIndex((row) => row.kind === 'log' && row.log.id === around);
    if (at !== -1) show(at);
  }, [around, rows.length]);
}

interface ListMoves {
  readonly active: number;
  readonly last: number;
  readonly move: (to: number) => void;
  readonly open: (at: number) => void;
  readonly step: (by: number) => void;
}

function useListKeys({ active, last, move, open, step }: ListMoves): void {
  useKeys([
    { keys: ['j', 'ArrowDown'], name: 'Next record', run: () => move(active + 1) },
    { keys: ['k', 'ArrowUp'], name: 'Previous record', run: () => move(active - 1) },
    { keys: ['Home'], name: 'First record', run: () => move(0) },
    { keys: ['End'], name: 'Last record', run: () => move(last) },
    { keys: ['PageDown'], name: 'A page down', run: () => move(active + 20) },
    { keys: ['PageUp'], name: 'A page up', run: () => move(active - 20) },
    { keys: ['Enter'], name: 'Open the record', run: () => open(active) },
    { keys: ['['], name: 'Open the previous record', run: () => step(-1) },
    { keys: [']'], name: 'Open the next record', run: () => step(1) },
  ]);
}

interface LogLineProps extends LogListProps {
  readonly row: LogListRow;
  readonly index: number;
  readonly id: string;
  readonly top: number;
  readonly rowPx: number;
  readonly measure: (element: HTMLElement | null) => void;
  readonly isActive: boolean;
  readonly activate: () => void;
}

function LogLine({ row, index, id, top, rowPx, measure, isActive, activate, ...props }: LogLineProps): ReactNode {
  const { search } = props;
  const logId = row.kind === 'log' ? row.log.id : undefined;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter opens the active row
    <div
      ref={measure}
      data-index={index}
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-selected={logId !== undefined && logId === search.id}
      className={classes(
        'absolute top-0 left-0 flex w-full cursor-pointer items-start gap-2 border-b border-line/60 px-3',
        'hover:bg-hover',
        logId !== undefined && (logId === search.id || logId === search.around) && 'bg-selected',
        isActive && 'shadow-[inset_2px_0_0_var(--accent)]',
      )}
      style={{ transform: `translateY(${top}px)`, minHeight: rowPx, paddingBlock: (rowPx - LINE_PX) / 2 }}
      onClick={() => {
        // A click that ends a text selection does not open the row.
        if (getSelection()?.isCollapsed !== false) activate();
      }}
    >
      <RowContent {...props} row={row} />
    </div>
  );
}

function keyOf(row: LogListRow | undefined): string {
  if (row === undefined) return '';
  return row.kind === 'log' ? row.log.id : row.kind === 'group' ? `group ${row.key}` : row.id;
}

const LOG_HEAD_PX = 32;

function LogHead({ search, setSearch }: SearchState<typeof LOGS_SEARCH>): ReactNode {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className={
        'sticky top-0 z-10 flex min-w-full items-stretch gap-2 border-b border-line bg-panel px-3 text-xs ' +
        'font-medium text-muted'
      }
      style={{ height: LOG_HEAD_PX }}
    >
      <TimeHead {...{ search, setSearch }} />
      <Head width={CELL_WIDTHS.severity}>Severity</Head>
      <Head width={CELL_WIDTHS.service}>Service</Head>
      {search.cols.map((key) => (
        <Head key={key} width={CELL_WIDTHS.attribute}>
          <span className="truncate font-mono">{visibleText(key)}</span>
        </Head>
      ))}
      <Head width="min-w-0 flex-1">Message</Head>
    </div>
  );
}

function Head({ width, children }: { readonly width: string; readonly children: ReactNode }): ReactNode {
  return (
    <div role="columnheader" className={classes('flex items-center', width)}>
      {children}
    </div>
  );
}

/** The records around one record have only one order. */
function TimeHead({ search, setSearch }: SearchState<typeof LOGS_SEARCH>): ReactNode {
  if (search.around !== undefined) return <Head width={CELL_WIDTHS.time}>Timestamp</Head>;
  const isOldestFirst = search.order === 'asc';
  const Arrow = isOldestFirst ? ArrowUp : ArrowDown;
  return (
    <div
      role="columnheader"
      aria-sort={isOldestFirst ? 'ascending' : 'descending'}
      className={classes('flex', CELL_WIDTHS.time)}
    >
      <button
        type="button"
        className="flex items-center gap-1 text-text"
        onClick={() => setSearch({ order: isOldestFirst ? 'desc' : 'asc' })}
      >
        Timestamp
        <Arrow size={12} className="shrink-0 max-sm:hidden" />
      </button>
    </div>
  );
}
