// Places for the nodes of a trace map: callers left, callees right, neighbours near each other. A trace has tens of
// nodes, so layers by depth and one ordering by neighbours are enough.

import type { TraceMap } from './trace-services.ts';

export const MAP_NODE = { width: 190, height: 54, gapX: 150, gapY: 34 } as const;

export interface PlacedMap {
  readonly width: number;
  readonly height: number;
  /** Left upper corner of each node. */
  readonly places: ReadonlyMap<string, { readonly x: number; readonly y: number }>;
}

export function placeMap(map: TraceMap): PlacedMap {
  const layers = layersOf(map);
  orderByNeighbours(map, layers);
  const tallest = Math.max(1, ...layers.map((layer) => layer.length));
  const height = tallest * (MAP_NODE.height + MAP_NODE.gapY) + MAP_NODE.gapY;
  const places = new Map<string, { x: number; y: number }>();
  layers.forEach((layer, column) => {
    const used = layer.length * (MAP_NODE.height + MAP_NODE.gapY) - MAP_NODE.gapY;
    layer.forEach((id, at) => {
      places.set(id, {
        x: MAP_NODE.gapX / 2 + column * (MAP_NODE.width + MAP_NODE.gapX),
        y: (height - used) / 2 + at * (MAP_NODE.height + MAP_NODE.gapY),
      });
    });
  });
  return { width: Math.max(1, layers.length) * (MAP_NODE.width + MAP_NODE.gapX), height, places };
}

/** The depth at which a node is first reached from the roots. Edges that lead back do not increase it. */
function layersOf(map: TraceMap): string[][] {
  const next = new Map<string, string[]>(map.nodes.map((node) => [node.id, []]));
  const called = new Set<string>();
  for (const edge of map.edges) {
    next.get(edge.from)?.push(edge.to);
    if (edge.from !== edge.to) called.add(edge.to);
  }
  const roots = map.nodes.map((node) => node.id).filter((id) => !called.has(id));
  const first = map.nodes[0]?.id;
  const depth = new Map<string, number>();
  // Where all nodes call each other there is no root: the first node, which ran first, is used.
  const queue = roots.length > 0 ? roots : first === undefined ? [] : [first];
  for (const id of queue) depth.set(id, 0);
  for (let at = 0; at < queue.length; at += 1) {
    const id = queue[at] ?? '';
    for (const child of next.get(id) ?? []) {
      if (depth.has(child)) continue;
      depth.set(child, (depth.get(id) ?? 0) + 1);
      queue.push(child);
    }
  }
  const layers: string[][] = [];
  for (const { id } of map.nodes) {
    const at = depth.get(id) ?? 0;
    while (layers.length <= at) layers.push([]);
    layers[at]?.push(id);
  }
  return layers;
}

function orderByNeighbours(map: TraceMap, layers: readonly string[][]): void {
  const callers = new Map<string, string[]>();
  for (const edge of map.edges) callers.set(edge.to, [...(callers.get(edge.to) ?? []), edge.from]);
  layers.forEach((layer, column) => {
    const before = layers[column - 1];
    if (before === undefined) return;
    const place = new Map(before.map((id, at) => [id, at]));
    const middle = (id: string): number => {
      const known = (callers.get(id) ?? []).flatMap((caller) => place.get(caller) ?? []);
      return known.length === 0 ? 0 : known.reduce((sum, at) => sum + at, 0) / known.length;
    };
    layer.sort((a, b) => middle(a) - middle(b));
  });
}
