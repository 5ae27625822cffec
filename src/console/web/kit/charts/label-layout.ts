// The places of the labels of lines: on their line, next to each other, and not under a box. The Flow and the map of a
// trace draw hundreds of lines at most, so each label tries a few places and takes the first free one.

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Start, two control points, end. */
export type Curve = readonly [Point, Point, Point, Point];

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface Label {
  readonly curve: Curve;
  /** The best position on the line, as a fraction: near the end that it shares with the fewest other lines. */
  readonly best: number;
  readonly width: number;
  readonly height: number;
}

/** Fractions of the line. */
const TRIED = [0.1, 0.15, 0.22, 0.29, 0.36, 0.43, 0.5, 0.57, 0.64, 0.71, 0.78, 0.85, 0.9];
const APART_PX = 2;
const NEAR_END = 0.71;

/** The middle of each label. Short lines are placed first: they have the least room. */
export function placeLabels(labels: readonly Label[], boxes: readonly Box[]): readonly Point[] {
  const taken = [...boxes];
  const points: Point[] = labels.map(({ curve, best }) => pointOn(curve, best));
  const order = labels.map((label, at) => ({ label, at })).sort((a, b) => reach(a.label.curve) - reach(b.label.curve));
  for (const { label, at } of order) {
    const place = freePoint(label, taken);
    points[at] = place;
    taken.push(around(place, label));
  }
  return points;
}

/** The first place that covers nothing, otherwise the one that covers least. */
function freePoint(label: Label, taken: readonly Box[]): Point {
  let best = { place: pointOn(label.curve, label.best), covered: Number.POSITIVE_INFINITY };
  for (const share of TRIED.toSorted((a, b) => Math.abs(a - label.best) - Math.abs(b - label.best))) {
    const place = pointOn(label.curve, share);
    const own = around(place, label);
    const covered = taken.reduce((sum, box) => sum + overlap(own, box), 0);
    if (covered < best.covered) best = { place, covered };
    if (covered === 0) break;
  }
  return best.place;
}

/** The best position of each edge: for one-to-many edges near each of the many ends, in both directions. */
export function bestShares(edges: readonly { readonly from: string; readonly to: string }[]): readonly number[] {
  const count = (ends: readonly string[]): ReadonlyMap<string, number> =>
    ends.reduce((sums, end) => sums.set(end, (sums.get(end) ?? 0) + 1), new Map<string, number>());
  const [out, into] = [count(edges.map(({ from }) => from)), count(edges.map(({ to }) => to))];
  return edges.map(({ from, to }) => {
    const [fans, gathers] = [out.get(from) ?? 0, into.get(to) ?? 0];
    return fans === gathers ? 0.5 : fans > gathers ? NEAR_END : 1 - NEAR_END;
  });
}

function around({ x, y }: Point, { width, height }: Label): Box {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

function overlap(a: Box, b: Box): number {
  const wide = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) + APART_PX;
  const high = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) + APART_PX;
  return wide <= 0 || high <= 0 ? 0 : wide * high;
}

function reach([start, , , end]: Curve): number {
  return Math.hypot(end.x - start.x, end.y - start.y);
}

function pointOn([a, b, c, d]: Curve, share: number): Point {
  const rest = 1 - share;
  const [ka, kb, kc, kd] = [rest ** 3, 3 * rest ** 2 * share, 3 * rest * share ** 2, share ** 3];
  return { x: ka * a.x + kb * b.x + kc * c.x + kd * d.x, y: ka * a.y + kb * b.y + kc * c.y + kd * d.y };
}

/** As the `d` of an SVG path. */
export function pathOf([a, b, c, d]: Curve): string {
  return `M${a.x} ${a.y}C${b.x} ${b.y} ${c.x} ${c.y} ${d.x} ${d.y}`;
}

/** From the right edge of one box to the left edge of another. */
export function curveBetween(start: Point, end: Point, bendMin = 40): Curve {
  const bend = Math.max(bendMin, (end.x - start.x) / 2);
  return [start, { x: start.x + bend, y: start.y }, { x: end.x - bend, y: end.y }, end];
}
