// Columns of a table: what a page declares, what this browser remembers (APP-11), and which of them fit.

import { type ReactNode, type RefObject, useLayoutEffect, useMemo, useState } from 'react';
import { keep, readKept } from '../../data/preferences.ts';
import { type Fit, fitColumns } from './fit.ts';
import { flipIn } from './selection.ts';

export interface Column<Row> {
  readonly id: string;
  readonly header: string;
  /** Initial width in pixels. The user may change it. */
  readonly width: number;
  /** Takes the remaining width, in this proportion. */
  readonly grow?: number;
  readonly align?: 'right';
  /** The word of the server's `sort`. Without it the column cannot be sorted. */
  readonly sort?: string;
  /** Hidden until the user selects it. */
  readonly optional?: boolean;
  /** The last to be hidden where there is little room. */
  readonly keeps?: boolean;
  /** The first to be hidden, wherever it is: another column shows the same. */
  readonly yields?: boolean;
  readonly cell: (row: Row) => ReactNode;
  /** For export and copying, unformatted. */
  readonly text: (row: Row) => string | number | boolean | null;
}

export interface ColumnMemory {
  readonly order: readonly string[];
  readonly hidden: readonly string[];
  readonly shown: readonly string[];
  readonly widths: Readonly<Record<string, number>>;
}

export interface ColumnChoice<Row> {
  /** In the order in which they are drawn. */
  readonly visible: readonly Column<Row>[];
  readonly all: readonly Column<Row>[];
  readonly isVisible: (id: string) => boolean;
  readonly widthOf: (column: Column<Row>) => number;
  /** The user selected it or set its width: it is not hidden. */
  readonly isOwn: (id: string) => boolean;
  readonly toggle: (id: string) => void;
  readonly move: (id: string, by: -1 | 1) => void;
  readonly resize: (id: string, width: number) => void;
  readonly reset: () => void;
}

export const COLUMN_WIDTH_MIN = 48;
const COLUMN_WIDTH_MAX = 1_600;
const NOTHING: ColumnMemory = { order: [], hidden: [], shown: [], widths: {} };

export function useColumns<Row>(table: string, columns: readonly Column<Row>[]): ColumnChoice<Row> {
  const storageKey = `svc.table.${table}`;
  const [memory, setMemory] = useState<ColumnMemory>(() => ({
    ...NOTHING,
    ...(readKept(storageKey) as Partial<ColumnMemory>),
  }));
  return useMemo(() => {
    const change = (next: ColumnMemory): void => {
      setMemory(next);
      keep(storageKey, next);
    };
    const all = inOrder(columns, memory.order);
    const isVisible = (id: string): boolean => {
      const column = columns.find((one) => one.id === id);
      return column?.optional === true ? memory.shown.includes(id) : !memory.hidden.includes(id);
    };
    return {
      all,
      visible: all.filter(({ id }) => isVisible(id)),
      isVisible,
      isOwn: (id) => memory.shown.includes(id) || memory.widths[id] !== undefined,
      widthOf: (column) => memory.widths[column.id] ?? column.width,
      toggle: (id) => change(toggled(memory, id, columns.find((one) => one.id === id)?.optional === true)),
      move: (id, by) => change({ ...memory, order: moved(all, id, by) }),
      resize: (id, width) => {
        const kept = Math.min(COLUMN_WIDTH_MAX, Math.max(COLUMN_WIDTH_MIN, Math.round(width)));
        change({ ...memory, widths: { ...memory.widths, [id]: kept } });
      },
      reset: () => change(NOTHING),
    };
  }, [columns, memory, storageKey]);
}

/** Remembered columns first, in their order. New columns are where the page has them. */
function inOrder<Row>(columns: readonly Column<Row>[], order: readonly string[]): readonly Column<Row>[] {
  const rank = (id: string, at: number): number => (order.includes(id) ? order.indexOf(id) : at);
  return columns
    .map((column, at) => ({ column, rank: rank(column.id, at), at }))
    .sort((a, b) => a.rank - b.rank || a.at - b.at)
    .map(({ column }) => column);
}

function toggled(memory: ColumnMemory, id: string, optional: boolean): ColumnMemory {
  return optional ? { ...memory, shown: flipIn(memory.shown, id) } : { ...memory, hidden: flipIn(memory.hidden, id) };
}

function moved<Row>(all: readonly Column<Row>[], id: string, by: -1 | 1): readonly string[] {
  const ids = all.map((column) => column.id);
  const from = ids.indexOf(id);
  const to = from + by;
  const other = ids[to];
  if (other === undefined) return ids;
  ids[from] = other;
  ids[to] = id;
  return ids;
}

/** The columns that fit, computed before the table is painted. */
export function useFit<Row>(
  choice: ColumnChoice<Row>,
  element: RefObject<HTMLElement | null>,
  takenPx: number,
): Fit<Column<Row>> {
  const [widthPx, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    setWidth(current.clientWidth);
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return useMemo(() => fitColumns(choice, widthPx - takenPx), [choice, widthPx, takenPx]);
}
