// The layout of a trace map: callers left, callees right, neighbours near each other. A trace has tens of nodes, so
// layers by depth and one ordering by neighbours are enough. Calls go right; edges that lead back use the lower half of
// the boxes, so that both directions of one pair can be distinguished.

import { bestShares, type Curve, curveBetween, type Point, placeLabels } from '../../../kit/charts/label-layout.ts';
import { formatCount, formatCountOf, formatDuration } from '../../../kit/charts/times.ts';
import type { MapEdge, TraceMap } from './trace-services.ts';

export const MAP_NODE = { width: 190, height: 54, gapX: 150, gapY: 34 } as const;

interface PlacedMap {
  readonly width: number;
  readonly height: number;
  /** Left upper corner of each node. */
  readonly positions: ReadonlyMap<string, { readonly x: number; readonly y: number }>;
}

export function placeMap(map: TraceMap): PlacedMap {
  const layers = layersOf(map);
  orderByNeighbours(map, layers);
  const tallest = Math.max(1, ...layers.map((layer) => layer.length));
  const height = tallest * (MAP_NODE.height + MAP_NODE.gapY) + MAP_NODE.gapY;
  const positions = new Map<string, { x: number; y: number }>();
  layers.forEach((layer, column) => {
    const used = layer.length * (MAP_NODE.height + MAP_NODE.gapY) - MAP_NODE.gapY;
    layer.forEach((id, at) => {
      positions.set(id, {
        x: MAP_NODE.gapX / 2 + column * (MAP_NODE.width + MAP_NODE.gapX),
        y: (height - used) / 2 + at * (MAP_NODE.height + MAP_NODE.gapY),
      });
    });
  });
  return { width: Math.max(1, layers.length) * (MAP_NODE.width + MAP_NODE.gapX), height, positions };
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

export interface DrawnEdge {
  readonly edge: MapEdge;
  readonly curve: Curve;
  /** The first has the number of calls and their duration. The second, if any, has the number of failures. */
  readonly lines: readonly string[];
  /** The middle of the label. */
  readonly at: Point;
}

export const MAP_LINE_PX = 14;
/** The width of 11 px text, rather too large than too small. */
const CHAR_PX = 6.4;
/** The distance of both directions from the middle of a box. */
const LANE_PX = 9;
/** How far a line between boxes of one column bends outwards. */
const SWING_PX = 70;

export function drawnEdges(edges: readonly MapEdge[], placed: PlacedMap): readonly DrawnEdge[] {
  const known = edges.flatMap((edge) => {
    const [from, to] = [placed.positions.get(edge.from), placed.positions.get(edge.to)];
    return from === undefined || to === undefined ? [] : [{ edge, curve: curveOf(from, to), lines: wordsOf(edge) }];
  });
  const best = bestShares(known.map(({ edge }) => edge));
  const labels = known.map(({ curve, lines }, index) => ({
    curve,
    best: best[index] ?? 0.5,
    width: Math.max(...lines.map((line) => line.length)) * CHAR_PX,
    height: lines.length * MAP_LINE_PX,
  }));
  const boxes = [...placed.positions.values()].map(({ x, y }) => ({
    x,
    y,
    width: MAP_NODE.width,
    height: MAP_NODE.height,
  }));
  const positions = placeLabels(labels, boxes);
  return known.map((one, index) => ({ ...one, at: positions[index] ?? one.curve[0] }));
}

function wordsOf({ count, p95Ms, errorCount }: MapEdge): readonly string[] {
  const figures = `×${formatCount(count)} · ${formatDuration(p95Ms)}`;
  return errorCount === 0 ? [figures] : [figures, formatCountOf(errorCount, 'error')];
}

function curveOf(from: Point, to: Point): Curve {
  const { width, height } = MAP_NODE;
  const middle = height / 2;
  if (from.x === to.x && from.y === to.y) {
    const [x, y] = [from.x + width / 2, from.y];
    return [
      { x: x - 24, y },
      { x: x - 44, y: y - 34 },
      { x: x + 44, y: y - 34 },
      { x: x + 24, y },
    ];
  }
  if (to.x > from.x) {
    return curveBetween({ x: from.x + width, y: from.y + middle - LANE_PX }, { x: to.x, y: to.y + middle - LANE_PX });
  }
  if (to.x < from.x) {
    const [start, second, third, end] = curveBetween(
      { x: to.x + width, y: to.y + middle + LANE_PX },
      { x: from.x, y: from.y + middle + LANE_PX },
    );
    return [end, third, second, start];
  }
  const [x, y1, y2] = [from.x + width, from.y + middle, to.y + middle];
  return [
    { x, y: y1 },
    { x: x + SWING_PX, y: y1 },
    { x: x + SWING_PX, y: y2 },
    { x, y: y2 },
  ];
}
