// The small diagram of the Dashboard (DSH-3): triggers at the left, functions in the middle, the objects that they use
// at the right. It shows as many of each as fit, the most connected first, and a count of the rest.

import type { FlowEdge, FlowGraph, FlowNode } from '../../../../api/flow.ts';

export interface PreviewNode {
  readonly node: FlowNode;
  readonly x: number;
  readonly y: number;
}

export interface PreviewEdge {
  readonly edge: FlowEdge;
  readonly from: PreviewNode;
  readonly to: PreviewNode;
}

export interface Preview {
  readonly nodes: readonly PreviewNode[];
  readonly edges: readonly PreviewEdge[];
  readonly height: number;
  /** How many nodes are not drawn. */
  readonly left: number;
}

export const PREVIEW = { rows: 7, rowHeight: 34, nodeHeight: 24, columns: [0, 0.36, 0.74] } as const;

const COLUMN_OF: Readonly<Record<FlowNode['kind'], number>> = {
  trigger: 0,
  function: 1,
  queue: 2,
  state: 2,
  stream: 2,
  topic: 2,
};

/** `x` is a fraction of the width, `y` is in pixels. */
export function previewOf({ nodes, edges: all }: FlowGraph): Preview {
  const own = nodes.filter(({ internal }) => !internal);
  const columnOf = new Map(own.map(({ id, kind }) => [id, COLUMN_OF[kind]]));
  // A line past the middle column would seem to belong to the functions that it passes.
  const edges = all.filter(({ from, to }) => isFunction(columnOf.get(from)) || isFunction(columnOf.get(to)));
  const functions = byDegree(own, edges).slice(0, PREVIEW.rows);
  const columns = [0, 1, 2].map((at) => (at === 1 ? functions : nearest(own, edges, functions, at)));
  const tallest = Math.max(1, ...columns.map(({ length }) => length));
  const placed = new Map<string, PreviewNode>();
  columns.forEach((column, at) => {
    const offset = ((tallest - column.length) * PREVIEW.rowHeight) / 2;
    column.forEach((node, row) => {
      placed.set(node.id, { node, x: PREVIEW.columns[at] ?? 0, y: offset + row * PREVIEW.rowHeight });
    });
  });
  const drawn = edges.flatMap((edge) => {
    const [from, to] = [placed.get(edge.from), placed.get(edge.to)];
    return from === undefined || to === undefined || from.x === to.x ? [] : [{ edge, from, to }];
  });
  return {
    nodes: [...placed.values()],
    edges: drawn,
    height: tallest * PREVIEW.rowHeight,
    left: own.length - placed.size,
  };
}

function isFunction(column: number | undefined): boolean {
  return column === 1;
}

function byDegree(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): readonly FlowNode[] {
  const degree = new Map<string, number>();
  for (const { from, to } of edges) {
    degree.set(from, (degree.get(from) ?? 0) + 1);
    degree.set(to, (degree.get(to) ?? 0) + 1);
  }
  return nodes
    .filter(({ kind }) => kind === 'function')
    .sort((a, b) => (degree.get(b.id) ?? 0) - (degree.get(a.id) ?? 0) || (a.id < b.id ? -1 : 1));
}

/** The nodes of one side: those of drawn functions first, each next to its function, then the rest. */
function nearest(
  nodes: readonly FlowNode[],
  edges: readonly FlowEdge[],
  functions: readonly FlowNode[],
  column: number,
): readonly FlowNode[] {
  const rows = new Map(functions.map(({ id }, row) => [id, row]));
  const rowOf = (id: string): number => {
    const beside = edges.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : []));
    return Math.min(Number.MAX_SAFE_INTEGER, ...beside.flatMap((other) => rows.get(other) ?? []));
  };
  return nodes
    .filter(({ kind }) => COLUMN_OF[kind] === column)
    .map((node) => ({ node, row: rowOf(node.id) }))
    .sort((a, b) => a.row - b.row || (a.node.id < b.node.id ? -1 : 1))
    .slice(0, PREVIEW.rows)
    .map(({ node }) => node);
}
