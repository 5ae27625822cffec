// The rows of the Triggers table: triggers, below the head of their kind where all kinds are shown (TRG-1).

import type { TriggerRow } from '../../../../console-api/triggers.ts';
import { KINDS, type Kind, kindOf } from '../../logic/trigger-kinds.ts';

export type TableLine =
  | { readonly kind: 'group'; readonly of: Kind; readonly count: number; readonly open: boolean }
  | { readonly kind: 'trigger'; readonly row: TriggerRow };

/** Groups stand as the tabs do, triggers in their order. */
export function groupedLines(rows: readonly TriggerRow[], closed: ReadonlySet<Kind>): TableLine[] {
  const groups = new Map<Kind, TriggerRow[]>();
  for (const row of rows) {
    const kind = kindOf(row.trigger_type);
    const group = groups.get(kind);
    if (group === undefined) groups.set(kind, [row]);
    else group.push(row);
  }
  return KINDS.flatMap((of) => {
    const members = groups.get(of);
    if (members === undefined) return [];
    const open = !closed.has(of);
    return [{ kind: 'group', of, count: members.length, open }, ...(open ? plainLines(members) : [])];
  });
}

export function plainLines(rows: readonly TriggerRow[]): TableLine[] {
  return rows.map((row) => ({ kind: 'trigger', row }));
}

export function keyOfLine(line: TableLine): string {
  return line.kind === 'group' ? `group ${line.of}` : line.row.id;
}
