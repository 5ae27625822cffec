// The rows of the Functions table: functions, below the head of their namespace where they are grouped (FUN-2).

import type { FunctionRow } from '../../../../console-api/functions.ts';

export type TableLine =
  | { readonly kind: 'group'; readonly name: string; readonly count: number; readonly open: boolean }
  | { readonly kind: 'function'; readonly row: FunctionRow };

/** The first segment of an id; what has no segments belongs to itself. */
export function namespaceOf(id: string): string {
  const cut = id.indexOf('::');
  return cut < 0 ? '' : id.slice(0, cut);
}

/** Groups stand in the order of their first function, functions in theirs. */
export function groupedLines(rows: readonly FunctionRow[], closed: ReadonlySet<string>): TableLine[] {
  const groups = new Map<string, FunctionRow[]>();
  for (const row of rows) {
    const name = namespaceOf(row.function_id);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return [...groups].flatMap(([name, members]) => {
    const open = !closed.has(name);
    const head: TableLine = { kind: 'group', name, count: members.length, open };
    return [head, ...(open ? plainLines(members) : [])];
  });
}

export function plainLines(rows: readonly FunctionRow[]): TableLine[] {
  return rows.map((row) => ({ kind: 'function', row }));
}

export function keyOfLine(line: TableLine): string {
  return line.kind === 'group' ? `group ${line.name}` : line.row.function_id;
}
