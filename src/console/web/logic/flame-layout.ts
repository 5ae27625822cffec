// Two flame graphs of one trace (TRC-12): in time order, where x is the clock and a lane holds what ran at that
// depth, and aggregated by name, where x is only a share and equal paths are one block.

import { FLAG, type TraceColumns } from './trace-columns.ts';

export interface FlameLayout {
  readonly laneCount: number;
  /** Lane of row `i`, 0 on top. */
  readonly lane: Uint32Array;
  /** Rows for which no free lane was left: they lie over others on the last one, and the page says so. */
  readonly crowdedCount: number;
}

/** Thousands of calls at once would be a picture taller than any screen, and the search for a free lane quadratic. */
const LANES_MAX = 400;

/**
 * Below its parent, and further down as long as something that started earlier still runs there: nothing may cover
 * another span, and parallel children are the normal case.
 */
export function flameLanes(columns: TraceColumns): FlameLayout {
  const lane = new Uint32Array(columns.count);
  // A child that claims to start before its parent is placed after it all the same.
  const placedAtMs = Float64Array.from(columns.startMs);
  for (let row = 0; row < columns.count; row += 1) {
    const parent = columns.parent[row] ?? -1;
    if (parent !== -1) placedAtMs[row] = Math.max(placedAtMs[row] ?? 0, placedAtMs[parent] ?? 0);
  }
  const inOrder = Uint32Array.from({ length: columns.count }, (_, row) => row).sort(
    (a, b) => (placedAtMs[a] ?? 0) - (placedAtMs[b] ?? 0) || a - b,
  );
  const freeAtMs: number[] = [];
  let crowdedCount = 0;
  for (const row of inOrder) {
    const parent = columns.parent[row] ?? -1;
    let at = parent === -1 ? 0 : Math.min((lane[parent] ?? 0) + 1, LANES_MAX - 1);
    const start = columns.startMs[row] ?? 0;
    while (at < LANES_MAX - 1 && (freeAtMs[at] ?? Number.NEGATIVE_INFINITY) > start) at += 1;
    if ((freeAtMs[at] ?? Number.NEGATIVE_INFINITY) > start) crowdedCount += 1;
    lane[row] = at;
    while (freeAtMs.length <= at) freeAtMs.push(Number.NEGATIVE_INFINITY);
    freeAtMs[at] = Math.max(freeAtMs[at] ?? 0, columns.endMs[row] ?? 0);
  }
  return { lane, laneCount: freeAtMs.length, crowdedCount };
}

export interface FlameBlock {
  readonly name: string;
  readonly service: string;
  readonly depth: number;
  /** 0 to 1 of the whole width. */
  readonly from: number;
  readonly width: number;
  readonly count: number;
  readonly totalMs: number;
  readonly selfMs: number;
  readonly errorCount: number;
  /** First span that went into the block. */
  readonly row: number;
}

interface Merged {
  readonly key: string;
  readonly row: number;
  count: number;
  totalMs: number;
  selfMs: number;
  errorCount: number;
  readonly children: Map<string, Merged>;
}

/**
 * Equal paths of names become one block. Its width is the time of its own and below it, counted as self time: children
 * that ran at once would otherwise be wider than their parent.
 */
export function flameByName(columns: TraceColumns): FlameBlock[] {
  const top: Merged = newMerged('', 0);
  const mergedOf: Merged[] = [];
  for (let row = 0; row < columns.count; row += 1) {
    const above = mergedOf[columns.parent[row] ?? -1] ?? top;
    const key = `${columns.serviceOf[row]} ${columns.nameOf[row]}`;
    let node = above.children.get(key);
    if (node === undefined) {
      node = newMerged(key, row);
      above.children.set(key, node);
    }
    node.count += 1;
    node.selfMs += columns.selfMs[row] ?? 0;
    node.errorCount += ((columns.flags[row] ?? 0) & FLAG.error) === 0 ? 0 : 1;
    mergedOf.push(node);
  }
  addTotals(top);
  return placed(columns, top);
}

/** Own time and that of everything below. Without recursion: a chain of calls may be thousands deep. */
function addTotals(top: Merged): void {
  const inOrder = [top];
  for (let at = 0; at < inOrder.length; at += 1) inOrder.push(...(inOrder[at]?.children.values() ?? []));
  for (const node of inOrder.reverse()) {
    node.totalMs = node.selfMs;
    for (const child of node.children.values()) node.totalMs += child.totalMs;
  }
}

function newMerged(key: string, row: number): Merged {
  return { key, row, count: 0, totalMs: 0, selfMs: 0, errorCount: 0, children: new Map() };
}

function placed(columns: TraceColumns, top: Merged): FlameBlock[] {
  const blocks: FlameBlock[] = [];
  const wholeMs = Math.max(top.totalMs, Number.MIN_VALUE);
  const stack: { node: Merged; depth: number; from: number }[] = [];
  const pushChildren = (node: Merged, depth: number, from: number): void => {
    let x = from;
    for (const child of [...node.children.values()].sort((a, b) => b.totalMs - a.totalMs)) {
      stack.push({ node: child, depth, from: x });
      x += child.totalMs / wholeMs;
    }
  };
  pushChildren(top, 0, 0);
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, depth, from } = next;
    blocks.push({
      name: columns.names[columns.nameOf[node.row] ?? 0] ?? '',
      service: columns.services[columns.serviceOf[node.row] ?? 0] ?? '',
      depth,
      from,
      width: node.totalMs / wholeMs,
      count: node.count,
      totalMs: node.totalMs,
      selfMs: node.selfMs,
      errorCount: node.errorCount,
      row: node.row,
    });
    pushChildren(node, depth + 1, from);
  }
  return blocks;
}
