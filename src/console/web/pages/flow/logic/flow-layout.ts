// The positions of the nodes of the flow (FLO-3): from left to right at first. Afterwards placed nodes stay where they
// are, and new nodes get a free position next to their neighbours.

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

/** `fresh`: the positions of a layout that was computed for all nodes at once. */
export function keepPositions(
  { nodes, edges }: LayoutRequest,
  known: NodePositions,
  fresh: NodePositions,
): NodePositions {
  const positions: Record<string, NodePosition> = {};
  for (const { id } of nodes) {
    const position = known[id];
    if (position !== undefined) positions[id] = position;
  }
  if (Object.keys(positions).length === 0) return fresh;
  const taken = Object.values(positions);
  for (const { id } of nodes) {
    if (positions[id] !== undefined) continue;
    const position = freePosition(nextToNeighbour(id, edges, positions, fresh), taken);
    positions[id] = position;
    taken.push(position);
  }
  return positions;
}

/** The distance to the neighbour is the one of the fresh layout. */
function nextToNeighbour(
  id: string,
  edges: LayoutRequest['edges'],
  positions: NodePositions,
  fresh: NodePositions,
): NodePosition {
  const own = fresh[id] ?? { x: 0, y: 0 };
  for (const { from, to } of edges) {
    const other = from === id ? to : to === id ? from : undefined;
    if (other === undefined) continue;
    const [there, was] = [positions[other], fresh[other]];
    if (there !== undefined && was !== undefined) {
      return { x: there.x + own.x - was.x, y: there.y + own.y - was.y };
    }
  }
  return own;
}

function freePosition(wanted: NodePosition, taken: readonly NodePosition[]): NodePosition {
  let { x, y } = wanted;
  const blocks = (position: NodePosition): boolean =>
    Math.abs(position.x - x) < NODE_SIZE.width && Math.abs(position.y - y) < NODE_SIZE.height + 4;
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
export function framesOf(nodes: LayoutRequest['nodes'], positions: NodePositions): Frame[] {
  const boxes = new Map<string, { left: number; top: number; right: number; bottom: number }>();
  for (const { id, group } of nodes) {
    const position = positions[id];
    if (group === undefined || position === undefined) continue;
    const box = boxes.get(group) ?? { left: position.x, top: position.y, right: position.x, bottom: position.y };
    boxes.set(group, {
      left: Math.min(box.left, position.x),
      top: Math.min(box.top, position.y),
      right: Math.max(box.right, position.x + NODE_SIZE.width),
      bottom: Math.max(box.bottom, position.y + NODE_SIZE.height),
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
export function putBelow(loose: readonly string[], positions: NodePositions): NodePositions {
  const known = Object.values(positions);
  const right = Math.max(0, ...known.map(({ x }) => x));
  const bottom = Math.max(-NODE_SIZE.height, ...known.map(({ y }) => y + NODE_SIZE.height));
  const step = { x: NODE_SIZE.width + GAP.nodes * 2, y: NODE_SIZE.height + GAP.nodes };
  const columns = Math.max(4, Math.floor(right / step.x) + 1);
  const put = loose.map((id, at): [string, NodePosition] => [
    id,
    { x: (at % columns) * step.x, y: bottom + GAP.nodes * 2 + Math.floor(at / columns) * step.y },
  ]);
  return { ...positions, ...Object.fromEntries(put) };
}

/** The stored positions, as far as they are valid. */
export function readPositions(config: unknown): NodePositions {
  if (typeof config !== 'object' || config === null || !('places' in config)) return {};
  const { places: positions } = config;
  if (typeof positions !== 'object' || positions === null) return {};
  return Object.fromEntries(
    Object.entries(positions).filter((entry): entry is [string, NodePosition] => isPosition(entry[1])),
  );
}

function isPosition(value: unknown): value is NodePosition {
  if (typeof value !== 'object' || value === null || !('x' in value) || !('y' in value)) return false;
  return Number.isFinite(value.x) && Number.isFinite(value.y);
}
