// The header of a table: names that sort, edges that are dragged.

import { ArrowDown, ArrowUp } from 'lucide-react';
import { type ReactNode, type PointerEvent as ReactPointerEvent, useRef } from 'react';
import { classes } from '../layout/classes.ts';
import type { Column, ColumnChoice } from './column.ts';

export interface TableSort {
  readonly by: string;
  readonly order: 'asc' | 'desc';
  readonly onSort: (by: string, order: 'asc' | 'desc') => void;
}

export interface HeaderProps<Row> {
  readonly choice: ColumnChoice<Row>;
  /** The columns that are drawn. */
  readonly columns: readonly Column<Row>[];
  readonly sort: TableSort | undefined;
  readonly template: string;
  readonly selectable: boolean;
}

export function TableHeader<Row>({ choice, columns, sort, template, selectable }: HeaderProps<Row>): ReactNode {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className="sticky top-0 z-10 grid h-8 min-w-full border-b border-line bg-panel text-xs font-medium text-muted"
      style={{ gridTemplateColumns: template }}
    >
      {selectable && (
        <div role="columnheader">
          <span className="sr-only">Chosen</span>
        </div>
      )}
      {columns.map((column, at) => (
        <HeaderCell key={column.id} {...{ column, choice, sort }} isLast={at === columns.length - 1} />
      ))}
    </div>
  );
}

interface HeaderCellProps<Row> {
  readonly column: Column<Row>;
  readonly choice: ColumnChoice<Row>;
  readonly sort: TableSort | undefined;
  readonly isLast: boolean;
}

function HeaderCell<Row>({ column, choice, sort, isLast }: HeaderCellProps<Row>): ReactNode {
  const sorted = sort !== undefined && column.sort === sort.by ? sort.order : undefined;
  const cell = useRef<HTMLDivElement>(null);
  return (
    <div
      ref={cell}
      role="columnheader"
      aria-sort={sorted === undefined ? 'none' : sorted === 'asc' ? 'ascending' : 'descending'}
      className={classes('relative flex min-w-0 items-center px-3', column.align === 'right' && 'justify-end')}
    >
      {sort !== undefined && column.sort !== undefined ? (
        <SortButton column={column} sort={sort} sorted={sorted} by={column.sort} />
      ) : (
        <span className="truncate">{column.header}</span>
      )}
      <span
        aria-hidden
        className={classes(
          'absolute top-1.5 z-10 h-5 w-2 cursor-col-resize touch-none hover:bg-accent-soft',
          // The last column has no neighbour that the handle could cover.
          isLast ? 'right-0' : '-right-1',
        )}
        onPointerDown={(event) => drag(event, cell.current, (width) => choice.resize(column.id, width))}
      />
    </div>
  );
}

function SortButton<Row>({
  column,
  sort,
  sorted,
  by,
}: {
  readonly column: Column<Row>;
  readonly sort: TableSort;
  readonly sorted: 'asc' | 'desc' | undefined;
  readonly by: string;
}): ReactNode {
  const Arrow = sorted === 'desc' ? ArrowDown : ArrowUp;
  return (
    <button
      type="button"
      className={classes('flex h-full min-w-0 items-center gap-1 hover:text-text', sorted && 'text-text')}
      onClick={() => sort.onSort(by, sorted === 'asc' ? 'desc' : 'asc')}
    >
      <span className="truncate">{column.header}</span>
      {sorted !== undefined && <Arrow size={12} className="shrink-0" />}
    </button>
  );
}

function drag(event: ReactPointerEvent, cell: HTMLElement | null, resize: (width: number) => void): void {
  event.preventDefault();
  const edge = event.currentTarget;
  if (cell === null || !(edge instanceof HTMLElement)) return;
  const startX = event.clientX;
  const startWidth = cell.getBoundingClientRect().width;
  edge.setPointerCapture(event.pointerId);
  const move = (moved: PointerEvent): void => resize(startWidth + moved.clientX - startX);
  edge.addEventListener('pointermove', move);
  edge.addEventListener('lostpointercapture', () => edge.removeEventListener('pointermove', move), { once: true });
}
