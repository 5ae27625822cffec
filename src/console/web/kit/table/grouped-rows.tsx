// Turns a table into one with groups that fold (FUN-2, TRG-1): `<Table columns={ofLines(COLUMNS)} {...useGroupedRows({
// … })} />`.

import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { formatCount } from '../charts/times.ts';
import type { Column } from './column.ts';
import { flip } from './selection.ts';
import type { TableProps } from './table.tsx';

type GroupHead<Group extends string> = {
  readonly kind: 'group';
  readonly group: Group;
  readonly count: number;
  readonly isOpen: boolean;
};

type GroupLine<Row, Group extends string> = GroupHead<Group> | { readonly kind: 'row'; readonly row: Row };

/** Rows in their order. Groups in the given order, or in that of their first rows. */
function groupedLines<Row, Group extends string>(
  rows: readonly Row[],
  groupOf: (row: Row) => Group,
  closed: ReadonlySet<Group>,
  order?: readonly Group[],
): GroupLine<Row, Group>[] {
  const groups = new Map<Group, Row[]>();
  for (const row of rows) {
    const group = groupOf(row);
    const members = groups.get(group);
    if (members === undefined) groups.set(group, [row]);
    else members.push(row);
  }
  return (order ?? [...groups.keys()]).flatMap((group) => {
    const members = groups.get(group);
    if (members === undefined) return [];
    const isOpen = !closed.has(group);
    const head = { kind: 'group', group, count: members.length, isOpen } as const;
    return [head, ...(isOpen ? plainLines(members) : [])];
  });
}

function plainLines<Row>(rows: readonly Row[]): { readonly kind: 'row'; readonly row: Row }[] {
  return rows.map((row) => ({ kind: 'row', row }));
}

/** Heads span all columns; only rows have cells. */
export function ofLines<Row, Group extends string>(
  columns: readonly Column<Row>[],
): readonly Column<GroupLine<Row, Group>>[] {
  return columns.map(({ cell, text, ...rest }) => ({
    ...rest,
    cell: (line) => (line.kind === 'row' ? cell(line.row) : undefined),
    text: (line) => (line.kind === 'row' ? text(line.row) : null),
  }));
}

/** Its functions stay the same from render to render, except `onOpen`. */
export interface GroupedRows<Row, Group extends string> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Undefined while the rows are not grouped. */
  readonly groupOf: ((row: Row) => Group) | undefined;
  readonly nameOf: (group: Group) => string;
  readonly order?: readonly Group[];
  readonly onOpen: (row: Row) => void;
  /** The list is not read to its end: groups may have more rows. */
  readonly isPart: boolean;
}

type TablePart<Row, Group extends string> = Required<
  Pick<TableProps<GroupLine<Row, Group>>, 'rows' | 'keyOf' | 'fullRow' | 'onOpen' | 'count'>
>;

export function useGroupedRows<Row, Group extends string>(given: GroupedRows<Row, Group>): TablePart<Row, Group> {
  const { rows, keyOf, groupOf, nameOf, order, onOpen, isPart } = given;
  const [closed, setClosed] = useState<ReadonlySet<Group>>(new Set());
  const lines = useMemo(
    () => (groupOf === undefined ? plainLines(rows) : groupedLines(rows, groupOf, closed, order)),
    [rows, groupOf, closed, order],
  );
  const keyOfLine = useMemo(
    () => (line: GroupLine<Row, Group>) => (line.kind === 'group' ? `group ${line.group}` : keyOf(line.row)),
    [keyOf],
  );
  const toggle = (group: Group): void => setClosed(flip(closed, group));
  return {
    rows: lines,
    keyOf: keyOfLine,
    fullRow: (line) =>
      line.kind === 'group' ? (
        <Head head={line} name={nameOf(line.group)} toggle={() => toggle(line.group)} isPart={isPart} />
      ) : undefined,
    onOpen: (line) => (line.kind === 'group' ? toggle(line.group) : onOpen(line.row)),
    count: lines.filter(({ kind }) => kind !== 'group').length,
  };
}

interface HeadProps {
  readonly head: GroupHead<string>;
  readonly name: string;
  readonly toggle: () => void;
  readonly isPart: boolean;
}

function Head({ head, name, toggle, isPart }: HeadProps): ReactNode {
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-expanded={head.isOpen}
      onClick={toggle}
      className="flex h-full w-full items-center gap-1.5 px-2 text-left text-sm font-medium text-muted hover:text-text"
    >
      {head.isOpen ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
      {name}
      <span className="text-xs font-normal text-faint">
        {formatCount(head.count)}
        {isPart && '+'}
      </span>
    </button>
  );
}
