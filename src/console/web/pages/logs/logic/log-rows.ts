// The rows of the log list (LOG-1, LOG-5): records as rows, similar messages folded into one, some hidden, and gaps of
// the live connection in their place.

import type { LogRow } from '../../../../api/telemetry.ts';
import { similarKey } from '../../../kit/json/logic/similar-text.ts';
import { stripAnsi } from './text-pieces.ts';

export type LogListRow =
  | { readonly kind: 'log'; readonly log: LogRow }
  | { readonly kind: 'group'; readonly key: string; readonly newest: LogRow; readonly count: number }
  /** `undefined` where the connection was lost and the number is unknown. */
  | { readonly kind: 'gap'; readonly dropped: number | undefined; readonly id: string };

export interface LogListView {
  readonly isGrouped: boolean;
  /** Groups that were opened. */
  readonly open: ReadonlySet<string>;
  /** Hidden messages, by `messageKey`. */
  readonly hidden: ReadonlySet<string>;
}

export type LogListEntry = LogRow | { readonly id: string; readonly dropped: number | undefined };

export function isGap(entry: LogListEntry): entry is { readonly id: string; readonly dropped: number | undefined } {
  return !('body' in entry);
}

type Message = Pick<LogRow, 'service_name' | 'severity_text' | 'body'>;

// Each record has one key and one row object for ever. With a thousand records a second the list is built again in each
// frame, and building the rows of all held records each time would be too slow.
const KEYS = new WeakMap<Message, string>();
const ROWS = new WeakMap<LogListEntry, LogListRow>();

export function messageKey(log: Message): string {
  const known = KEYS.get(log);
  if (known !== undefined) return known;
  const key = `${log.severity_text} ${log.service_name} ${similarKey(stripAnsi(log.body))}`;
  KEYS.set(log, key);
  return key;
}

function rowOf(entry: LogListEntry): LogListRow {
  const known = ROWS.get(entry);
  if (known !== undefined) return known;
  const row: LogListRow = isGap(entry) ? { kind: 'gap', ...entry } : { kind: 'log', log: entry };
  ROWS.set(entry, row);
  return row;
}

/** In the given order. A group is at the place of its first member. When opened, its members follow it. */
export function logListRows(entries: readonly LogListEntry[], view: LogListView): LogListRow[] {
  const { isGrouped, hidden, open } = view;
  if (!isGrouped && hidden.size === 0) return entries.map(rowOf);
  const groups = new Map<string, LogRow[]>();
  const order: ({ readonly entry: LogListEntry } | { readonly group: string })[] = [];
  for (const entry of entries) {
    if (isGap(entry)) {
      order.push({ entry });
      continue;
    }
    const key = messageKey(entry);
    if (hidden.has(key)) continue;
    if (!isGrouped) {
      order.push({ entry });
      continue;
    }
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, [entry]);
      order.push({ group: key });
    } else group.push(entry);
  }
  return order.flatMap((place): LogListRow | LogListRow[] => {
    if ('entry' in place) return rowOf(place.entry);
    const members = groups.get(place.group) ?? [];
    const [newest] = members;
    if (newest === undefined || members.length === 1) return members.map(rowOf);
    const head = { kind: 'group', key: place.group, newest, count: members.length } as const;
    return open.has(place.group) ? [head, ...members.map(rowOf)] : [head];
  });
}

/** How many records are hidden by hidden messages. */
export function hiddenCount(entries: readonly LogListEntry[], hidden: ReadonlySet<string>): number {
  if (hidden.size === 0) return 0;
  return entries.filter((entry) => !isGap(entry) && hidden.has(messageKey(entry))).length;
}
