// The part of the flow graph that is drawn (FLO-4, FLO-6): the kinds that are shown, the neighbourhood of one node, and
// groups that are closed to one node each. The edges between two closed groups are one edge with the sums of all.

import type { FlowEdge, FlowGraph, FlowNode } from '../../../../api/flow.ts';

export const FLOW_KINDS = ['trigger', 'function', 'queue', 'state', 'stream', 'topic'] as const;
export type FlowKind = FlowNode['kind'];
export type GroupBy = 'none' | 'namespace' | 'worker';

/** Above this many nodes, namespaces start closed. */
export const OPEN_NODES_MAX = 300;
/** Above this many, nodes are counted and not drawn. */
export const DRAWN_NODES_MAX = 1_000;

export interface ViewNode {
  readonly id: string;
  /** Undefined: a closed group. */
  readonly node: FlowNode | undefined;
  readonly label: string;
  readonly group: string | undefined;
  /** Only of a closed group. */
  readonly members: number;
  readonly isFailing: boolean;
}

export interface ViewEdge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly kind: FlowEdge['kind'];
  readonly callsPerMinute: number | null;
  readonly errorRate: number | null;
  /** The node of the graph that it stands for. */
  readonly parts: readonly string[];
}

export interface FlowView {
  readonly nodes: readonly ViewNode[];
  readonly edges: readonly ViewEdge[];
  readonly groupBy: GroupBy;
  readonly groups: readonly { readonly id: string; readonly label: string; readonly isOpen: boolean }[];
  /** How many nodes are not drawn because there are too many. */
  readonly left: number;
}

export interface ViewOptions {
  readonly hidden: readonly FlowKind[];
  readonly groupBy: GroupBy;
  /** Groups that are not in their initial state. */
  readonly toggled: readonly string[];
  readonly focus: { readonly id: string; readonly hops: number } | undefined;
}

export function flowView(graph: FlowGraph, { hidden, groupBy: wanted, toggled, focus }: ViewOptions): FlowView {
  const shown = graph.nodes.filter(({ kind }) => !hidden.includes(kind));
  const near = focus === undefined ? undefined : neighbourhood(graph.edges, focus.id, focus.hops);
  const nodes = near === undefined ? shown : shown.filter(({ id }) => near.has(id));
  const isLarge = nodes.length > OPEN_NODES_MAX;
  const groupBy = isLarge && wanted === 'none' ? 'namespace' : wanted;
  const failing = failingNodes(graph);
  const groupOf = new Map(nodes.map((node) => [node.id, groupName(node, groupBy)]));
  const isOpen = (group: string): boolean => toggled.includes(group) === isLarge;
  const placeOf = new Map<string, string>();
  const found = new Map<string, ViewNode>();
  for (const node of nodes) {
    const group = groupOf.get(node.id);
    const isClosed = group !== undefined && !isOpen(group);
    const id = isClosed ? `group:${groupBy}:${group}` : node.id;
    placeOf.set(node.id, id);
    const before = found.get(id);
    found.set(id, {
      id,
      node: isClosed ? undefined : node,
      label: isClosed ? group : node.label,
      group,
      members: (before?.members ?? 0) + 1,
      isFailing: (before?.isFailing ?? false) || failing.has(node.id),
    });
  }
  const edges = mergedEdges(graph.edges, placeOf);
  const drawn = mostConnected([...found.values()], edges);
  const drawnIds = new Set(drawn.map(({ id }) => id));
  const names = [...new Set(groupOf.values())].filter((name) => name !== undefined).sort();
  return {
    nodes: drawn,
    edges: edges.filter(({ from, to }) => drawnIds.has(from) && drawnIds.has(to)),
    groupBy,
    groups: names.map((name) => ({ id: name, label: name, isOpen: isOpen(name) })),
    left: found.size - drawn.length,
  };
}

function groupName(node: FlowNode, groupBy: GroupBy): string | undefined {
  if (groupBy === 'none') return undefined;
  return (groupBy === 'worker' ? node.worker : node.namespace) ?? undefined;
}

/** In error itself, or called with errors. */
function failingNodes({ nodes, edges }: FlowGraph): ReadonlySet<string> {
  const failing = new Set(nodes.filter(({ status }) => status === 'error').map(({ id }) => id));
  for (const { to, error_rate: rate } of edges) if (rate !== null && rate > 0) failing.add(to);
  return failing;
}

/** Follows edges in both directions. */
export function neighbourhood(edges: readonly FlowEdge[], from: string, hops: number): ReadonlySet<string> {
  const beside = new Map<string, string[]>();
  for (const edge of edges) {
    for (const [here, there] of [
      [edge.from, edge.to],
      [edge.to, edge.from],
    ] as const) {
      const list = beside.get(here) ?? [];
      list.push(there);
      beside.set(here, list);
    }
  }
  const found = new Set([from]);
  let edge = [from];
  for (let hop = 0; hop < hops && edge.length > 0; hop++) {
    edge = edge.flatMap((id) => beside.get(id) ?? []).filter((id) => !found.has(id));
    for (const id of edge) found.add(id);
  }
  return found;
}

function mergedEdges(edges: readonly FlowEdge[], placeOf: ReadonlyMap<string, string>): ViewEdge[] {
  const merged = new Map<string, ViewEdge>();
  for (const edge of edges) {
    const [from, to] = [placeOf.get(edge.from), placeOf.get(edge.to)];
    if (from === undefined || to === undefined || from === to) continue;
    const id = `${from}>${to}`;
    const before = merged.get(id);
    merged.set(id, {
      id,
      from,
      to,
      kind: before?.kind === 'registered' ? 'registered' : edge.kind,
      ...addedFigures(before, edge),
      parts: [...(before?.parts ?? []), edge.id],
    });
  }
  return [...merged.values()];
}

function addedFigures(before: ViewEdge | undefined, edge: FlowEdge): Pick<ViewEdge, 'callsPerMinute' | 'errorRate'> {
  const [calls, rate] = [before?.callsPerMinute ?? null, before?.errorRate ?? null];
  if (edge.calls_per_minute === null) return { callsPerMinute: calls, errorRate: rate };
  const sum = (calls ?? 0) + edge.calls_per_minute;
  const errors = (calls ?? 0) * (rate ?? 0) + edge.calls_per_minute * (edge.error_rate ?? 0);
  return { callsPerMinute: sum, errorRate: sum === 0 ? 0 : errors / sum };
}

function mostConnected(nodes: readonly ViewNode[], edges: readonly ViewEdge[]): readonly ViewNode[] {
  if (nodes.length <= DRAWN_NODES_MAX) return nodes;
  const degree = new Map<string, number>();
  for (const { from, to } of edges) {
    degree.set(from, (degree.get(from) ?? 0) + 1);
    degree.set(to, (degree.get(to) ?? 0) + 1);
  }
  return nodes
    .toSorted((a, b) => (degree.get(b.id) ?? 0) - (degree.get(a.id) ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, DRAWN_NODES_MAX);
}
