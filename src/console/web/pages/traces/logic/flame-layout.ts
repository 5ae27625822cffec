// Two flame graphs of one trace (TRC-12): in time order, where x is the clock and a lane holds the spans of one depth,
// and aggregated by name, where x is a share of the time and equal paths are one block.

import { FLAG, type TraceColumns } from './trace-columns.ts';

export interface FlameLayout {
  readonly laneCount: number;
  /** Lane of row `i`, 0 on top. */
  readonly lane: Uint32Array;
  /** Rows without a free lane: they overlap others on the last lane, and the page says so. */
  readonly crowdedCount: number;
}

/**
 * Thousands of parallel calls would make the picture taller than any screen, and the search for a free lane quadratic.
 */
const LANES_MAX = 400;

/**
 * Below its parent, and further down while an earlier span still runs in that lane. No span may cover another, and
 * parallel children are common.
 */
export function flameLanes(columns: TraceColumns): FlameLayout {
  const lane = new Uint32Array(columns.count);
  // A child that claims to start before its parent is still placed after it.
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
  /** The first span of the block. */
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
 * Equal paths of names become one block. Its width is the self time of its spans and their descendants: by duration,
 * parallel children would be wider than their parent.
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

/** Self time including all descendants. Not recursive: a chain of calls may be thousands deep. */
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
