// The lines of a trace map and their labels: calls go right, edges that lead back use the lower half of the boxes, so
// that both directions of one pair can be distinguished.

import { formatCount, formatCountOf, formatDuration } from '../../../kit/charts/times.ts';
import { bestShares, type Curve, curveBetween, type Point, placeLabels } from './label-places.ts';
import { MAP_NODE, type PlacedMap } from './map-layout.ts';
import type { MapEdge } from './trace-services.ts';

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
    const [from, to] = [placed.places.get(edge.from), placed.places.get(edge.to)];
    return from === undefined || to === undefined ? [] : [{ edge, curve: curveOf(from, to), lines: wordsOf(edge) }];
  });
  const best = bestShares(known.map(({ edge }) => edge));
  const labels = known.map(({ curve, lines }, index) => ({
    curve,
    best: best[index] ?? 0.5,
    width: Math.max(...lines.map((line) => line.length)) * CHAR_PX,
    height: lines.length * MAP_LINE_PX,
  }));
  const boxes = [...placed.places.values()].map(({ x, y }) => ({
    x,
    y,
    width: MAP_NODE.width,
    height: MAP_NODE.height,
  }));
  const places = placeLabels(labels, boxes);
  return known.map((one, index) => ({ ...one, at: places[index] ?? one.curve[0] }));
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
