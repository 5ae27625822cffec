// What the list of logs shows (LOG-1, LOG-5): records as rows, similar messages folded into one, some hidden, and
// gaps of the live connection at their place.

import type { LogRow } from '../../../console-api/telemetry.ts';
import { stripAnsi } from './ansi.ts';
import { similarKey } from './similar-text.ts';

export type LogListRow =
  | { readonly kind: 'log'; readonly log: LogRow }
  | { readonly kind: 'group'; readonly key: string; readonly newest: LogRow; readonly count: number }
  /** `undefined` where the connection was lost and nobody counted. */
  | { readonly kind: 'gap'; readonly dropped: number | undefined; readonly id: string };

export interface LogListView {
  readonly isGrouped: boolean;
  /** Groups that were opened. */
  readonly open: ReadonlySet<string>;
  /** Messages not to be shown, by `messageKey`. */
  readonly hidden: ReadonlySet<string>;
}

export type LogListEntry = LogRow | { readonly id: string; readonly dropped: number | undefined };

export function isGap(entry: LogListEntry): entry is { readonly id: string; readonly dropped: number | undefined } {
  return !('body' in entry);
}

export function messageKey(log: Pick<LogRow, 'service_name' | 'severity_text' | 'body'>): string {
  return `${log.severity_text} ${log.service_name} ${similarKey(stripAnsi(log.body))}`;
}

/** Of each record one row for ever: with a thousand records a second, thousands of new ones each time would be felt. */
const ROWS = new WeakMap<LogListEntry, LogListRow>();

function rowOf(entry: LogListEntry): LogListRow {
  const known = ROWS.get(entry);
  if (known !== undefined) return known;
  const row: LogListRow = isGap(entry) ? { kind: 'gap', ...entry } : { kind: 'log', log: entry };
  ROWS.set(entry, row);
  return row;
}

/** In the order given. A group stands where its first member stands; opened, its members follow it. */
export function logListRows(entries: readonly LogListEntry[], view: LogListView): LogListRow[] {
  const needsKeys = view.isGrouped || view.hidden.size > 0;
  if (!needsKeys) return entries.map(rowOf);
  const groups = new Map<string, LogRow[]>();
  const order: ({ readonly gap: { id: string; dropped: number | undefined } } | { readonly key: string } | LogRow)[] =
    [];
  for (const entry of entries) {
    if (isGap(entry)) {
      order.push({ gap: entry });
      continue;
    }
    const key = needsKeys ? messageKey(entry) : '';
    if (view.hidden.has(key)) continue;
    if (!view.isGrouped) {
      order.push(entry);
      continue;
    }
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [entry]);
      order.push({ key });
    } else group.push(entry);
  }
  return order.flatMap((place): LogListRow[] => {
    if ('gap' in place) return [{ kind: 'gap', ...place.gap }];
    if ('body' in place) return [{ kind: 'log', log: place }];
    const members = groups.get(place.key) ?? [];
    const rows = members.map((log) => ({ kind: 'log', log }) as const);
    const [newest] = members;
    if (newest === undefined || members.length === 1) return rows;
    const head = { kind: 'group', key: place.key, newest, count: members.length } as const;
    return view.open.has(place.key) ? [head, ...rows] : [head];
  });
}

/** How many records the hidden messages keep away. */
export function hiddenCount(entries: readonly LogListEntry[], hidden: ReadonlySet<string>): number {
  if (hidden.size === 0) return 0;
  return entries.filter((entry) => !isGap(entry) && hidden.has(messageKey(entry))).length;
}
