// The places of the nodes of the flow (FLO-3): from left to right at first. Afterwards placed nodes stay where they
// are, and new nodes get a free place next to their neighbours.

export const NODE_SIZE = { width: 208, height: 44 } as const;
const GAP = { ranks: 128, nodes: 18 } as const;

export interface NodePosition {
  readonly x: number;
  readonly y: number;
}

export type NodePositions = Readonly<Record<string, NodePosition>>;

export interface LayoutRequest {
  readonly nodes: readonly { readonly id: string; readonly group: string | undefined }[];
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/** `fresh`: the places of a layout that was computed for all nodes at once. */
export function keepPositions(
  { nodes, edges }: LayoutRequest,
  known: NodePositions,
  fresh: NodePositions,
): NodePositions {
  const places: Record<string, NodePosition> = {};
  for (const { id } of nodes) {
    const place = known[id];
    if (place !== undefined) places[id] = place;
  }
  if (Object.keys(places).length === 0) return fresh;
  const taken = Object.values(places);
  for (const { id } of nodes) {
    if (places[id] !== undefined) continue;
    const place = freePosition(nextToNeighbour(id, edges, places, fresh), taken);
    places[id] = place;
    taken.push(place);
  }
  return places;
}

/** The distance to the neighbour is the one of the fresh layout. */
function nextToNeighbour(
  id: string,
  edges: LayoutRequest['edges'],
  places: NodePositions,
  fresh: NodePositions,
): NodePosition {
  const own = fresh[id] ?? { x: 0, y: 0 };
  for (const { from, to } of edges) {
    const other = from === id ? to : to === id ? from : undefined;
    if (other === undefined) continue;
    const [there, was] = [places[other], fresh[other]];
    if (there !== undefined && was !== undefined) {
      return { x: there.x + own.x - was.x, y: there.y + own.y - was.y };
    }
  }
  return own;
}

function freePosition(wanted: NodePosition, taken: readonly NodePosition[]): NodePosition {
  let { x, y } = wanted;
  const blocks = (place: NodePosition): boolean =>
    Math.abs(place.x - x) < NODE_SIZE.width && Math.abs(place.y - y) < NODE_SIZE.height + 4;
  for (let blocker = taken.find(blocks); blocker !== undefined; blocker = taken.find(blocks)) {
    y = blocker.y + NODE_SIZE.height + GAP.nodes;
  }
  return { x, y };
}

export interface Frame {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const FRAME_PX = { side: 14, top: 34, bottom: 14 } as const;

/** The frames around open groups, large enough for their members. */
export function framesOf(nodes: LayoutRequest['nodes'], places: NodePositions): Frame[] {
  const boxes = new Map<string, { left: number; top: number; right: number; bottom: number }>();
  for (const { id, group } of nodes) {
    const place = places[id];
    if (group === undefined || place === undefined) continue;
    const box = boxes.get(group) ?? { left: place.x, top: place.y, right: place.x, bottom: place.y };
    boxes.set(group, {
      left: Math.min(box.left, place.x),
      top: Math.min(box.top, place.y),
      right: Math.max(box.right, place.x + NODE_SIZE.width),
      bottom: Math.max(box.bottom, place.y + NODE_SIZE.height),
    });
  }
  return [...boxes].map(([id, { left, top, right, bottom }]) => ({
    id,
    x: left - FRAME_PX.side,
    y: top - FRAME_PX.top,
    width: right - left + 2 * FRAME_PX.side,
    height: bottom - top + FRAME_PX.top + FRAME_PX.bottom,
  }));
}

export const LAYOUT_GAP = GAP;

/** Unconnected nodes are in rows below everything else, as wide as the rest of the graph. */
export function putBelow(loose: readonly string[], places: NodePositions): NodePositions {
  const known = Object.values(places);
  const right = Math.max(0, ...known.map(({ x }) => x));
  const bottom = Math.max(-NODE_SIZE.height, ...known.map(({ y }) => y + NODE_SIZE.height));
  const step = { x: NODE_SIZE.width + GAP.nodes * 2, y: NODE_SIZE.height + GAP.nodes };
  const columns = Math.max(4, Math.floor(right / step.x) + 1);
  const put = loose.map((id, at): [string, NodePosition] => [
    id,
    { x: (at % columns) * step.x, y: bottom + GAP.nodes * 2 + Math.floor(at / columns) * step.y },
  ]);
  return { ...places, ...Object.fromEntries(put) };
}

/** The stored places, as far as they are valid. */
export function readPositions(config: unknown): NodePositions {
  if (typeof config !== 'object' || config === null || !('places' in config)) return {};
  const { places } = config;
  if (typeof places !== 'object' || places === null) return {};
  return Object.fromEntries(
    Object.entries(places).filter((entry): entry is [string, NodePosition] => isPosition(entry[1])),
  );
}

function isPosition(value: unknown): value is NodePosition {
  if (typeof value !== 'object' || value === null || !('x' in value) || !('y' in value)) return false;
  return Number.isFinite(value.x) && Number.isFinite(value.y);
}
