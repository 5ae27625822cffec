// The rows of a table under the heads of their groups (FUN-2, TRG-1).

export type GroupHead<Group extends string> = {
  readonly kind: 'group';
  readonly group: Group;
  readonly count: number;
  readonly isOpen: boolean;
};

export type GroupLine<Row, Group extends string> = GroupHead<Group> | { readonly kind: 'row'; readonly row: Row };

/** Rows in their order. Groups in the given order, or in that of their first rows. */
export function groupedLines<Row, Group extends string>(
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

export function plainLines<Row>(rows: readonly Row[]): { readonly kind: 'row'; readonly row: Row }[] {
  return rows.map((row) => ({ kind: 'row', row }));
}
