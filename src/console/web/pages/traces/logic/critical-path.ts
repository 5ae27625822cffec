// The chain of segments that determined when the root ended. The walk goes back from its end, always into the child
// that ended last before the current point. Time that no child covers belongs to the span itself. Every span is entered
// once at most and its children are sorted once, so the walk is linear after sorting.

import { FLAG, type TraceColumns } from './trace-columns.ts';

export interface CriticalPath {
  /** Segment `i`: row `spans[i]` from `fromMs[i]` to `toMs[i]`, in time order, without overlap. */
  readonly spans: Uint32Array;
  readonly fromMs: Float64Array;
  readonly toMs: Float64Array;
  /** 1 for each row that has a segment. */
  readonly isOnPath: Uint8Array;
}

export function criticalPath(columns: TraceColumns): CriticalPath {
  const segments: [row: number, from: number, to: number][] = [];
  const root = rootOf(columns);
  if (root !== undefined) walkBack(columns, root, segments);
  segments.reverse();
  const isOnPath = new Uint8Array(columns.count);
  for (const [row] of segments) isOnPath[row] = 1;
  return {
    spans: Uint32Array.from(segments, ([row]) => row),
    fromMs: Float64Array.from(segments, ([, from]) => from),
    toMs: Float64Array.from(segments, ([, , to]) => to),
    isOnPath,
  };
}

/** A span without a parent comes before a row for an unknown parent. Then the longest comes first. */
export function rootOf(columns: TraceColumns): number | undefined {
  let best: number | undefined;
  for (let row = 0; row < columns.count; row = columns.subtreeEnd[row] ?? columns.count) {
    if (best === undefined || rankOfRoot(columns, row) > rankOfRoot(columns, best)) best = row;
  }
  return best;
}

/** The name of the trace: that of the first known span, where its parent never arrived. */
export function rootName(columns: TraceColumns): string {
  const root = rootOf(columns) ?? 0;
  const isUnknown = ((columns.flags[root] ?? 0) & FLAG.unknownParent) !== 0;
  return columns.names[columns.nameOf[isUnknown ? root + 1 : root] ?? 0] ?? '';
}

function rankOfRoot(columns: TraceColumns, row: number): number {
  const lengthMs = (columns.endMs[row] ?? 0) - (columns.startMs[row] ?? 0);
  return ((columns.flags[row] ?? 0) & FLAG.unknownParent) === 0 ? lengthMs + columns.durationMs + 1 : lengthMs;
}

interface Step {
  readonly row: number;
  /** How far back the walk has come within this span. */
  cursorMs: number;
  /** Children by end, latest first. */
  readonly children: readonly number[];
  next: number;
}

function walkBack(columns: TraceColumns, root: number, segments: [number, number, number][]): void {
  const { startMs, endMs } = columns;
  const step = (row: number, cursorMs: number): Step => ({
    row,
    cursorMs,
    children: childrenByEnd(columns, row),
    next: 0,
  });
  const push = (row: number, from: number, to: number): void => {
    if (to > from) segments.push([row, from, to]);
  };
  const stack = [step(root, endMs[root] ?? 0)];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const child = top.children[top.next];
    top.next += 1;
    const starts = Math.max(startMs[top.row] ?? 0, 0);
    if (child === undefined) {
      push(top.row, starts, top.cursorMs);
      stack.pop();
      const above = stack.at(-1);
      if (above !== undefined) above.cursorMs = Math.min(above.cursorMs, starts);
      continue;
    }
    // A child may end after its parent, which did not wait for it: only the part inside counts.
    const childEnd = Math.min(endMs[child] ?? 0, endMs[top.row] ?? 0);
    const childStart = startMs[child] ?? 0;
    if (childEnd > top.cursorMs || childStart >= childEnd || childStart < starts) continue;
    push(top.row, childEnd, top.cursorMs);
    top.cursorMs = childEnd;
    stack.push(step(child, childEnd));
  }
}

function childrenByEnd(columns: TraceColumns, row: number): number[] {
  const children: number[] = [];
  const end = columns.subtreeEnd[row] ?? 0;
  for (let child = row + 1; child < end; child = columns.subtreeEnd[child] ?? end) children.push(child);
  return children.sort((a, b) => (columns.endMs[b] ?? 0) - (columns.endMs[a] ?? 0) || b - a);
}

export interface PathShare {
  readonly service: string;
  readonly totalMs: number;
}

/** What each service contributed to the path, largest first. */
export function pathByService(columns: TraceColumns, path: CriticalPath): PathShare[] {
  const totals = new Map<string, number>();
  path.spans.forEach((row, index) => {
    const service = columns.services[columns.serviceOf[row] ?? 0] ?? '';
    totals.set(service, (totals.get(service) ?? 0) + (path.toMs[index] ?? 0) - (path.fromMs[index] ?? 0));
  });
  return [...totals].map(([service, totalMs]) => ({ service, totalMs })).sort((a, b) => b.totalMs - a.totalMs);
}
