// Which rows the waterfall shows: collapsing, "only" filters and the folding of repeated siblings, over the columns of
// a whole trace. State is kept by span id, so that it survives when a running trace grows and its rows get new numbers.

import { percentile } from '../../../../../core/telemetry/spans/trace-groups.ts';
import { similarKey } from '../../../kit/json/logic/similar-text.ts';
import { FLAG, type TraceColumns } from './trace-columns.ts';

export interface RowsView {
  /** Rows at this depth and deeper are closed, unless opened by hand; `null`: all are open. */
  readonly level: number | null;
  /** Ids whose state differs from what `level` gives. */
  readonly toggled: ReadonlySet<string>;
  /** Fold rows that were opened, by `Fold.key`. */
  readonly openFolds: ReadonlySet<string>;
  readonly isFolding: boolean;
  /** Rows to show, with their ancestors: 1 for each; `null` shows all. */
  readonly only: Uint8Array | null;
}

export interface Fold {
  readonly key: string;
  readonly label: string;
  readonly depth: number;
  readonly members: readonly number[];
  readonly totalMs: number;
  readonly p50Ms: number;
  readonly maxMs: number;
  readonly errorCount: number;
  readonly isOpen: boolean;
}

export interface Rows {
  /** A row of the trace, or `-1 - i` for fold `i`. */
  readonly entries: Int32Array;
  /** Depth as shown: members of an opened fold are one level deeper. */
  readonly depths: Uint32Array;
  readonly folds: readonly Fold[];
}

export const FULL_VIEW: RowsView = {
  level: null,
  toggled: new Set(),
  openFolds: new Set(),
  isFolding: false,
  only: null,
};
/** Fewer repeated siblings are easier to read one by one. */
export const FOLD_MEMBERS_MIN = 10;

export function visibleRows(columns: TraceColumns, view: RowsView): Rows {
  const entries: number[] = [];
  const depths: number[] = [];
  const folds: Fold[] = [];
  const shown = view.only === null ? null : withAncestors(columns, view.only);
  const isShown = (row: number): boolean => shown === null || shown[row] === 1;
  // Pending work, last first: rows, and folds as `-1 - i`.
  const stack: { entry: number; depth: number }[] = [];
  const pushSiblings = (first: number, end: number, depth: number): void => {
    const siblings: number[] = [];
    for (let row = first; row < end; row = columns.subtreeEnd[row] ?? end) if (isShown(row)) siblings.push(row);
    const units = view.isFolding ? foldSiblings(columns, siblings, depth, view, folds) : siblings;
    for (let at = units.length - 1; at >= 0; at -= 1) stack.push({ entry: units[at] ?? 0, depth });
  };
  pushSiblings(0, columns.count, 0);
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    entries.push(top.entry);
    depths.push(top.depth);
    if (top.entry < 0) {
      const fold = folds[-1 - top.entry];
      const depth = top.depth + 1;
      if (fold?.isOpen) stack.push(...fold.members.map((entry) => ({ entry, depth })).reverse());
    } else if (isOpen(columns, view, top.entry)) {
      pushSiblings(top.entry + 1, columns.subtreeEnd[top.entry] ?? 0, top.depth + 1);
    }
  }
  return { entries: Int32Array.from(entries), depths: Uint32Array.from(depths), folds };
}

export function hasChildren(columns: TraceColumns, row: number): boolean {
  return (columns.subtreeEnd[row] ?? 0) > row + 1;
}

export function isOpen(columns: TraceColumns, view: RowsView, row: number): boolean {
  const isOpenByLevel = view.level === null || (columns.depth[row] ?? 0) < view.level;
  return view.toggled.has(columns.ids[row] ?? '') ? !isOpenByLevel : isOpenByLevel;
}

/** Rows with an error, for "only errors". */
export function errorRows(columns: TraceColumns): Uint8Array {
  return Uint8Array.from(columns.flags, (flag) => (flag & FLAG.error ? 1 : 0));
}

function withAncestors(columns: TraceColumns, only: Uint8Array): Uint8Array {
  const shown = Uint8Array.from(only);
  for (let row = columns.count - 1; row >= 0; row -= 1) {
    const parent = columns.parent[row] ?? -1;
    if (shown[row] === 1 && parent !== -1) shown[parent] = 1;
  }
  return shown;
}

function foldSiblings(
  columns: TraceColumns,
  siblings: readonly number[],
  depth: number,
  view: RowsView,
  folds: Fold[],
): number[] {
  if (siblings.length < FOLD_MEMBERS_MIN) return [...siblings];
  const keys = new Map<number, string>();
  const groups = new Map<string, number[]>();
  for (const row of siblings) {
    const name = columns.nameOf[row] ?? 0;
    const known = keys.get(name);
    const label = known ?? similarKey(columns.names[name] ?? '');
    if (known === undefined) keys.set(name, label);
    const key = `${columns.serviceOf[row]} ${label}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups]
    .flatMap(([key, members]) => {
      if (members.length < FOLD_MEMBERS_MIN) return members;
      const fold = foldOf(columns, members, depth, key.slice(key.indexOf(' ') + 1), view);
      return [-folds.push(fold)];
    })
    .sort((a, b) => firstRow(a, folds) - firstRow(b, folds));
}

function firstRow(entry: number, folds: readonly Fold[]): number {
  return entry >= 0 ? entry : (folds[-1 - entry]?.members[0] ?? 0);
}

function foldOf(columns: TraceColumns, members: readonly number[], depth: number, label: string, view: RowsView): Fold {
  const lengths = members.map((row) => (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0)).sort((a, b) => a - b);
  const parent = columns.parent[members[0] ?? 0] ?? -1;
  const key = `${columns.ids[parent] ?? ''} ${columns.services[columns.serviceOf[members[0] ?? 0] ?? 0]} ${label}`;
  return {
    key,
    label,
    depth,
    members,
    totalMs: sum(lengths),
    p50Ms: percentile(lengths, 0.5),
    maxMs: lengths.at(-1) ?? 0,
    errorCount: sum(members.map((row) => columns.errorsBelow[row] ?? 0)),
    isOpen: view.openFolds.has(key),
  };
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
