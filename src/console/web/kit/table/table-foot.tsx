// Below a table: the number of rows, the selection, and the menus.

import type { ReactNode } from 'react';
import { formatCount } from '../charts/times.ts';
import { Announce } from '../feedback/announce.tsx';
import { Button } from '../inputs/button.tsx';
import type { Column, ColumnChoice } from './column.ts';
import { ColumnMenu } from './column-menu.tsx';
import { ExportMenu } from './export-menu.tsx';
import type { Selection } from './selection.ts';

export interface TableFootProps<Row> {
  readonly name: string;
  readonly choice: ColumnChoice<Row>;
  /** The columns that fit. */
  readonly drawn: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keys: readonly string[];
  readonly selection: Selection;
  readonly count: number;
  readonly total: number | null | undefined;
  readonly actions: ((selection: Selection, rows: readonly Row[]) => ReactNode) | undefined;
  readonly foot: ReactNode;
  readonly more: (() => void) | undefined;
}

const FOOT = 'flex min-h-9 shrink-0 flex-wrap items-center gap-2 border-t border-line px-2 py-1 text-sm text-muted';

export function TableFoot<Row>(props: TableFootProps<Row>): ReactNode {
  const { name, choice, drawn, rows, keys, selection, count, total, actions, foot, more } = props;
  const chosen = selection.keys.size === 0 ? [] : rows.filter((_row, at) => selection.keys.has(keys[at] ?? ''));
  const all = total ?? count;
  const isPart = more !== undefined && all <= count;
  const noun = all === 1 ? 'row' : 'rows';
  const words =
    chosen.length > 0
      ? `${selection.all ? formatCount(all) : formatCount(chosen.length)} chosen`
      : `${formatCount(count)}${all > count ? ` of ${formatCount(all)}` : ''} ${noun}${isPart ? ' so far' : ''}`;
  return (
    <div className={FOOT}>
      <span aria-hidden="true">{words}</span>
      <Announce text={words} />
      {chosen.length > 0 && (
        <>
          {!selection.all && chosen.length < all && (
            <Button look="ghost" onClick={selection.selectAll}>
              Select all {formatCount(all)} that match
            </Button>
          )}
          <Button look="ghost" onClick={selection.clear}>
            None
          </Button>
          {actions?.(selection, chosen)}
        </>
      )}
      <div className="min-w-0 flex-1">{foot}</div>
      <ExportMenu {...{ name, choice }} chosen={selection.all ? [] : chosen} loaded={rows} more={more} />
      <ColumnMenu choice={choice} drawn={drawn} />
    </div>
  );
}
