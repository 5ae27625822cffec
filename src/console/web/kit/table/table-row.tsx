// One row of a table.

import type { MouseEvent, ReactNode } from 'react';
import { classes } from '../layout/classes.ts';
import type { Column } from './column.ts';
import type { Selection } from './selection.ts';
import type { TableProps } from './table.tsx';

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

export function TableRow<Row>(own: RowProps<Row>): ReactNode {
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
