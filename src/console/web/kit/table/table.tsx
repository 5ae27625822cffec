// The table of all pages: any number of rows, of which only the visible ones are in the document. Columns can be
// resized, moved and hidden; rows can be opened, selected and exported; everything works by keyboard as well (APP-11,
// ACC-3).
//
// It is a grid with one focus: `aria-activedescendant` names the active row to assistive technology, so that rows may
// leave the document when they are scrolled away.

import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { type MouseEvent, type ReactNode, type RefObject, useEffect, useId, useMemo, useRef, useState } from 'react';
import { useKeys } from '../../app/keys.ts';
import { preferences } from '../../data/preferences.ts';
import { useStore } from '../../data/store.ts';
import { FindBar, useListFind } from '../inputs/find-bar.tsx';
import { classes } from '../layout/classes.ts';
import { type Column, type ColumnChoice, useColumns, useFit } from './column.ts';
import type { Fit } from './fit.ts';
import { TableHeader, type TableSort } from './header.tsx';
import { type Selection, useSelection } from './selection.ts';
import { TableFoot } from './table-foot.tsx';

export interface TableProps<Row> {
  /** The name under which its columns are remembered, and of its files. */
  readonly name: string;
  /** Its name for screen readers. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Draws a row across all columns: a group's head, a gap. Such rows cannot be selected. */
  readonly fullRow?: (row: Row) => ReactNode | undefined;
  readonly sort?: TableSort;
  /** The key of the row whose detail is open. */
  readonly openKey?: string | undefined;
  readonly onOpen?: (row: Row) => void;
  readonly selectable?: boolean;
  /** Shown below a selection: the page's actions on it. */
  readonly selectionActions?: (selection: Selection, rows: readonly Row[]) => ReactNode;
  /** How many of the rows are not heads of groups; undefined: all of them. */
  readonly count?: number;
  /** Of all pages of the server; undefined: all rows are loaded. */
  readonly total?: number | null | undefined;
  /** Called when the end comes near and the server may have more. */
  readonly onNearEnd?: (() => void) | undefined;
  readonly rowClass?: (row: Row) => string | undefined;
  readonly foot?: ReactNode;
}

const OVERSCAN = 12;
const NEAR_END_ROWS = 40;
const HEADER_PX = 32;
const ROW_PX = { comfortable: 34, compact: 26 } as const;

export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { name, label, columns, rows, keyOf, sort, onOpen, selectable = false, total, onNearEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const gridId = useId();
  const choice = useColumns(name, columns);
  const keys = useMemo(() => rows.map(keyOf), [rows, keyOf]);
  const selection = useSelection(keys);
  const [active, setActive] = useState(0);
  const rowPx = ROW_PX[useStore(preferences).density];
  const virtual = useRowWindow(scroller, rows.length, rowPx, onNearEnd);
  const go = (to: number): void => {
    const next = Math.min(Math.max(to, 0), rows.length - 1);
    if (next < 0) return;
    setActive(next);
    virtual.scrollToIndex(next);
  };
  useTableKeys({ scroller, active, go, rowPx, choose: selectable ? selection : undefined, keys, onOpen, rows });
  const fit = useFit(choice, scroller, selectable ? LEAD_PX : 0);
  const template = templateOf(fit, choice, selectable);
  const common = { template, columns: fit.drawn, props, rowPx, select: selectable ? selection.toggle : undefined };
  const find = useListFind({
    count: rows.length,
    textOf: (at) => textOf(rows[at], choice),
    ...{ active, go, isLong: rows.length > virtual.getVirtualItems().length },
  });
  return (
    <div className="flex h-full min-h-0 min-w-0 flex-col">
      {find.isOpen && <FindBar find={find} scroller={scroller} />}
      <div
        ref={scroller}
        role="grid"
        aria-label={label}
        aria-rowcount={(total ?? rows.length) + 1}
        aria-multiselectable={selectable}
        aria-activedescendant={rows.length > 0 ? `${gridId}-${active}` : undefined}
        tabIndex={0}
        data-list
        className="group/grid min-h-0 flex-1 overflow-auto -outline-offset-2"
      >
        <div
          role="rowgroup"
          className="relative"
          style={{ height: virtual.getTotalSize(), minWidth: widthOf(fit, selectable) }}
        >
          <TableHeader {...{ choice, sort, template }} columns={fit.drawn} selectable={selectable} />
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index];
            const rowKey = keys[index] ?? '';
            return row === undefined ? undefined : (
              <TableRow
                key={rowKey}
                {...{ ...common, row, rowKey, index, start }}
                id={`${gridId}-${index}`}
                isActive={index === active}
                isSelected={selection.keys.has(rowKey)}
                activate={() => setActive(index)}
              />
            );
          })}
        </div>
      </div>
      <TableFoot
        {...{ name, choice, rows, keys, selection, total, foot: props.foot, more: onNearEnd }}
        drawn={fit.drawn}
        count={props.count ?? rows.length}
        actions={props.selectionActions}
      />
    </div>
  );
}

/** The searchable text of a row: the cells that are shown. */
function textOf<Row>(row: Row | undefined, { visible }: ColumnChoice<Row>): string {
  return row === undefined ? '' : visible.map((column) => column.text(row) ?? '').join('\n');
}

/** The visible rows. Notifies the page when the last of them come near. */
function useRowWindow(
  scroller: RefObject<HTMLDivElement | null>,
  count: number,
  rowPx: number,
  onNearEnd: (() => void) | undefined,
): Virtualizer<HTMLDivElement, Element> {
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    paddingStart: HEADER_PX,
    scrollPaddingStart: HEADER_PX,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights are measured again when they change
  useEffect(() => virtual.measure(), [virtual, rowPx]);
  const last = virtual.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    // A page of a search may be empty although the next one is not.
    if (last >= count - NEAR_END_ROWS) onNearEnd?.();
  }, [last, count, onNearEnd]);
  return virtual;
}

const LEAD_PX = 36;

/** Below this width the table scrolls sideways. */
function widthOf<Row>({ drawn, least }: Fit<Column<Row>>, selectable: boolean): number {
  return drawn.reduce((sum, column) => sum + least(column), selectable ? LEAD_PX : 0);
}

function templateOf<Row>({ drawn, least }: Fit<Column<Row>>, choice: ColumnChoice<Row>, selectable: boolean): string {
  const tracks = drawn.map((column) =>
    column.grow === undefined ? `${choice.widthOf(column)}px` : `minmax(${least(column)}px, ${column.grow}fr)`,
  );
  return `${selectable ? `${LEAD_PX}px ` : ''}${tracks.join(' ')}`;
}

interface TableKeys<Row> {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly active: number;
  readonly go: (to: number) => void;
  readonly rowPx: number;
  readonly choose: Selection | undefined;
  readonly keys: readonly string[];
  readonly rows: readonly Row[];
  readonly onOpen: ((row: Row) => void) | undefined;
}

function useTableKeys<Row>({ scroller, active, go, rowPx, choose, keys, rows, onOpen }: TableKeys<Row>): void {
  const page = (): number => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowPx) - 2);
  const move = (to: number): void => {
    scroller.current?.focus({ preventScroll: true });
    go(to);
  };
  const open = (at: number): void => {
    const row = rows[at];
    if (row !== undefined) onOpen?.(row);
  };
  const step = (by: number): void => {
    move(active + by);
    open(Math.min(Math.max(active + by, 0), rows.length - 1));
  };
  useKeys([
    { keys: ['j', 'ArrowDown'], name: 'Next row', run: () => move(active + 1) },
    { keys: ['k', 'ArrowUp'], name: 'Previous row', run: () => move(active - 1) },
    { keys: ['Home'], name: 'First row', run: () => move(0) },
    { keys: ['End'], name: 'Last row', run: () => move(rows.length - 1) },
    { keys: ['PageDown'], name: 'A page down', run: () => move(active + page()) },
    { keys: ['PageUp'], name: 'A page up', run: () => move(active - page()) },
    { keys: ['Enter'], name: 'Open the row', run: () => open(active) },
    {
      keys: ['x', 'shift+X'],
      name: 'Select the row; with Shift, all rows from the last selected one',
      run: ({ shiftKey }) => choose?.toggle(keys[active] ?? '', shiftKey),
    },
    { keys: ['['], name: 'Open the previous row', run: () => step(-1) },
    { keys: [']'], name: 'Open the next row', run: () => step(1) },
  ]);
}

export interface RowProps<Row> {
  readonly row: Row;
  readonly rowKey: string;
  readonly id: string;
  readonly index: number;
  readonly start: number;
  readonly rowPx: number;
  readonly template: string;
  readonly columns: readonly Column<Row>[];
  readonly props: Pick<TableProps<Row>, 'fullRow' | 'openKey' | 'onOpen' | 'rowClass'>;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly select: Selection['toggle'] | undefined;
  readonly activate: () => void;
}

function TableRow<Row>(own: RowProps<Row>): ReactNode {
  const { row, rowKey, id, index, start, rowPx, template, columns, props, isActive, isSelected, select } = own;
  const full = props.fullRow?.(row);
  const isOpen = props.openKey === rowKey;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter opens the active row
    <div
      role="row"
      id={id}
      aria-rowindex={index + 2}
      aria-selected={select === undefined ? isOpen : isSelected}
      onClick={(event) => {
        own.activate();
        if (full !== undefined || isOfControl(event) || getSelection()?.isCollapsed === false) return;
        props.onOpen?.(row);
      }}
      className={classes(
        'absolute top-0 left-0 grid w-full items-center border-b border-line',
        full === undefined && props.onOpen !== undefined && 'cursor-pointer hover:bg-hover',
        isOpen || isSelected ? 'bg-selected' : undefined,
        isActive && 'shadow-[inset_2px_0_0_var(--accent)]',
        props.rowClass?.(row),
      )}
      style={{
        height: rowPx,
        transform: `translateY(${start}px)`,
        gridTemplateColumns: full === undefined ? template : 'minmax(0, 1fr)',
      }}
    >
      {full !== undefined && <div role="gridcell">{full}</div>}
      {full === undefined && select !== undefined && (
        <div role="gridcell" className="flex justify-center">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Choose ${rowKey}`}
            checked={isSelected}
            onClick={(event) => {
              event.stopPropagation();
              select(rowKey, event.shiftKey);
            }}
            onChange={() => {}}
            className="accent-(--accent-fill)"
          />
        </div>
      )}
      {full === undefined && columns.map((column) => <TableCell key={column.id} column={column} row={row} />)}
    </div>
  );
}

/** A link in a row opens its own target, and not the row as well. */
function isOfControl({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('a, button') !== null;
}

function TableCell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }): ReactNode {
  return (
    <div
      role="gridcell"
      className={classes(
        'flex min-w-0 items-center gap-1.5 overflow-hidden px-3 whitespace-nowrap',
        column.align === 'right' && 'justify-end',
      )}
    >
      {column.cell(row)}
    </div>
  );
}
