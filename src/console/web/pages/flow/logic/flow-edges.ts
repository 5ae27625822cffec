// The lines of the flow and the numbers at them (FLO-2).

import { formatRate, formatShare } from '../../../kit/charts/times.ts';
import { bestShares, type Curve, curveBetween, type Point, placeLabels } from '../../traces/logic/label-places.ts';
import { NODE_SIZE, type Place, type Places } from './flow-layout.ts';
import type { FlowView, ViewEdge } from './flow-view.ts';

export interface FlowFigures {
  /** The first is the number of calls. The second, if any, is the number of failures. */
  readonly lines: readonly string[];
  /** The middle of the lines. */
  readonly at: Point;
}

/** Above this many edges no numbers are drawn. */
const LABELLED_MAX = 80;
/** The width of 11 px text, rather too large than too small, and the margin around it. */
const [CHAR_PX, SIDES_PX, LINE_PX] = [6.2, 8, 15] as const;

/** By the id of the edge. */
export function flowFigures({ nodes, edges }: FlowView, places: Places): ReadonlyMap<string, FlowFigures> {
  if (edges.length > LABELLED_MAX) return new Map();
  const labelled = edges.flatMap((edge) => {
    const lines = figuresOf(edge);
    const curve = flowCurve(places[edge.from], places[edge.to]);
    return lines.length === 0 || curve === undefined ? [] : [{ edge, lines, curve }];
  });
  const boxes = nodes.flatMap(({ id }) => {
    const place = places[id];
    return place === undefined ? [] : [{ ...place, ...NODE_SIZE }];
  });
  const best = bestShares(labelled.map(({ edge }) => edge));
  const labels = labelled.map(({ lines, curve }, index) => ({
    curve,
    best: best[index] ?? 0.5,
    width: Math.max(...lines.map(({ length }) => length)) * CHAR_PX + SIDES_PX,
    height: lines.length * LINE_PX,
  }));
  const spots = placeLabels(labels, boxes);
  return new Map(labelled.map(({ edge, lines, curve }, index) => [edge.id, { lines, at: spots[index] ?? curve[0] }]));
}

export function flowCurve(from: Place | undefined, to: Place | undefined): Curve | undefined {
  if (from === undefined || to === undefined) return undefined;
  const middle = NODE_SIZE.height / 2;
  return curveBetween({ x: from.x + NODE_SIZE.width, y: from.y + middle }, { x: to.x, y: to.y + middle });
}

function figuresOf({ callsPerMinute, errorRate }: ViewEdge): readonly string[] {
  if (callsPerMinute === null || callsPerMinute === 0) return [];
  const failed = errorRate === null || errorRate === 0 ? [] : [`${formatShare(errorRate)} fail`];
  return [`${formatRate(callsPerMinute)}/min`, ...failed];
}
