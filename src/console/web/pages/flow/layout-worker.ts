// The thread that computes the layout of the flow: from left to right, open groups together (FLO-3, console rule 5).

import { Graph, layout } from '@dagrejs/dagre';
import { LAYOUT_GAP, type LayoutRequest, NODE_SIZE, type NodePositions, putBelow } from './logic/flow-layout.ts';

export interface LayoutReply {
  readonly id: number;
  readonly positions: NodePositions;
}

addEventListener('message', ({ data }: MessageEvent<LayoutRequest & { readonly id: number }>) => {
  postMessage({ id: data.id, positions: layOut(data) } satisfies LayoutReply);
});

function layOut({ nodes: all, edges }: LayoutRequest): NodePositions {
  const joined = new Set(edges.flatMap(({ from, to }) => [from, to]));
  const isLoose = ({ id, group }: LayoutRequest['nodes'][number]): boolean => group === undefined && !joined.has(id);
  const nodes = all.filter((node) => !isLoose(node));
  const graph = new Graph({ compound: true });
  graph.setGraph({ rankdir: 'LR', ranksep: LAYOUT_GAP.ranks, nodesep: LAYOUT_GAP.nodes });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, group } of nodes) {
    graph.setNode(id, { ...NODE_SIZE });
    if (group === undefined) continue;
    const frame = `frame:${group}`;
    if (!graph.hasNode(frame)) graph.setNode(frame, {});
    graph.setParent(id, frame);
  }
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const positions = Object.fromEntries(
    nodes.map(({ id }) => {
      const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
      return [id, { x: x - NODE_SIZE.width / 2, y: y - NODE_SIZE.height / 2 }];
    }),
  );
  return putBelow(
    all.filter(isLoose).map(({ id }) => id),
    positions,
  );
}
