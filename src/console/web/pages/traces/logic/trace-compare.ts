// Compares two traces of the same work, span by span (TRC-18). Spans are the same when their path is: service and name
// from the root down, and the index among the spans of that name under its parent.
//
// Every span of both traces is in exactly one line, parents before children.

import type { TraceColumns } from './trace-columns.ts';

export type SpanChange = 'same' | 'slower' | 'faster' | 'added' | 'missing';

export interface ComparedSpan {
  readonly depth: number;
  readonly service: string;
  readonly name: string;
  readonly change: SpanChange;
  /** Undefined where the span is not in that trace. */
  readonly beforeMs: number | undefined;
  readonly afterMs: number | undefined;
  /** Its row in the later trace. */
  readonly row: number | undefined;
}

/** A smaller difference is normal variation between runs. */
export const CHANGE_SHARE_MIN = 0.1;
export const CHANGE_MS_MIN = 1;

/** `after` compared with `before`. */
export function compareTraces(before: TraceColumns, after: TraceColumns): ComparedSpan[] {
  const pathSpans: PathSpan[] = [];
  const numbers = new Map<string, number>();
  enter(after, 'after', pathSpans, numbers);
  enter(before, 'before', pathSpans, numbers);
  const roots: PathSpan[] = [];
  for (const place of pathSpans) (pathSpans[place.parent]?.children ?? roots).push(place);
  return inOrder(roots).map((place) => lineOf(place, before, after));
}

/** A path that one or both traces have. */
interface PathSpan {
  readonly parent: number;
  readonly depth: number;
  readonly startMs: number;
  readonly children: PathSpan[];
  before?: number;
  after?: number;
}

function enter(
  columns: TraceColumns,
  side: 'before' | 'after',
  pathSpans: PathSpan[],
  numbers: Map<string, number>,
): void {
  const numberOf: number[] = [];
  const seen = new Map<string, number>();
  for (let row = 0; row < columns.count; row += 1) {
    const parent = numberOf[columns.parent[row] ?? -1] ?? -1;
    const name = `${parent} ${JSON.stringify([serviceAt(columns, row), nameAt(columns, row)])}`;
    const earlier = seen.get(name) ?? 0;
    seen.set(name, earlier + 1);
    const path = `${earlier} ${name}`;
    const number = numbers.get(path) ?? pathSpans.length;
    numbers.set(path, number);
    numberOf.push(number);
    pathSpans[number] ??= { parent, depth: columns.depth[row] ?? 0, startMs: columns.startMs[row] ?? 0, children: [] };
    pathSpans[number][side] = row;
  }
}

/** Depth first, siblings by start. Not recursive: chains of calls may be long. */
function inOrder(roots: readonly PathSpan[]): PathSpan[] {
  const latestFirst = (list: readonly PathSpan[]): PathSpan[] => [...list].sort((a, b) => b.startMs - a.startMs);
  const open = latestFirst(roots);
  const ordered: PathSpan[] = [];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    ordered.push(place);
    for (const child of latestFirst(place.children)) open.push(child);
  }
  return ordered;
}

function lineOf(place: PathSpan, before: TraceColumns, after: TraceColumns): ComparedSpan {
  const beforeMs = durationAt(before, place.before);
  const afterMs = durationAt(after, place.after);
  const [columns, row] = place.after === undefined ? [before, place.before ?? 0] : [after, place.after];
  return {
    depth: place.depth,
    service: serviceAt(columns, row),
    name: nameAt(columns, row),
    change: changeOf(beforeMs, afterMs),
    beforeMs,
    afterMs,
    row: place.after,
  };
}

function changeOf(beforeMs: number | undefined, afterMs: number | undefined): SpanChange {
  if (beforeMs === undefined) return 'added';
  if (afterMs === undefined) return 'missing';
  const moreMs = afterMs - beforeMs;
  if (Math.abs(moreMs) < Math.max(CHANGE_MS_MIN, beforeMs * CHANGE_SHARE_MIN)) return 'same';
  return moreMs > 0 ? 'slower' : 'faster';
}

function durationAt(columns: TraceColumns, row: number | undefined): number | undefined {
  return row === undefined ? undefined : (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
}

function serviceAt(columns: TraceColumns, row: number): string {
  return columns.services[columns.serviceOf[row] ?? 0] ?? '';
}

function nameAt(columns: TraceColumns, row: number): string {
  return columns.names[columns.nameOf[row] ?? 0] ?? '';
}
