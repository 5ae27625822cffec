// The flow: which part of the graph is drawn, the positions of the nodes, and the exported picture.

import { describe, expect, test } from 'vitest';
import type { FlowEdge, FlowGraph, FlowNode } from '../../../../../../src/console/api/flow.ts';
import { flowSvg } from '../../../../../../src/console/web/pages/flow/logic/flow-drawing.ts';
import {
  framesOf,
  keepPositions,
  putBelow,
  readPositions,
} from '../../../../../../src/console/web/pages/flow/logic/flow-layout.ts';
import { flowView, type ViewOptions } from '../../../../../../src/console/web/pages/flow/logic/flow-view.ts';

function fn(name: string, more: Partial<FlowNode> = {}): FlowNode {
  const [namespace = null] = name.includes('::') ? name.split('::') : [];
  return {
    id: `function:${name}`,
    kind: 'function',
    label: name,
    namespace,
    worker: 'w',
    trigger_type: null,
    method: null,
    status: 'ok',
    internal: false,
    ...more,
  };
}

function edge(from: string, to: string, calls: number | null = null, errors: number | null = null): FlowEdge {
  const [start, end] = [`function:${from}`, `function:${to}`];
  const kind = calls === null ? 'registered' : 'seen';
  return { id: `${start}>${end}`, from: start, to: end, kind, calls_per_minute: calls, error_rate: errors };
}

const ALL: ViewOptions = { hidden: [], groupBy: 'none', toggled: [], focus: undefined };
const CHAIN: FlowGraph = {
  nodes: [fn('a::1'), fn('a::2'), fn('b::1'), fn('b::2')],
  edges: [edge('a::1', 'b::1', 3, 0), edge('a::2', 'b::1', 1, 1), edge('b::1', 'b::2')],
  has_traces: true,
};

describe('Flow', () => {
  test('[FLO-2] [FLO-5] A node that is called with errors is failing', () => {
    const { nodes } = flowView(CHAIN, ALL);
    expect(nodes.filter(({ isFailing }) => isFailing).map(({ label }) => label)).toEqual(['b::1']);
  });

  test('[FLO-4] The neighbourhood of a node follows edges in both directions', () => {
    const around = (hops: number) =>
      flowView(CHAIN, { ...ALL, focus: { id: 'function:b::2', hops } }).nodes.map(({ label }) => label);
    expect(around(1)).toEqual(['b::1', 'b::2']);
    expect(around(Number.POSITIVE_INFINITY)).toHaveLength(4);
  });

  test('[FLO-4] A closed group is one node, and its edges are one edge with the sums of all', () => {
    const { nodes, edges } = flowView(CHAIN, { ...ALL, groupBy: 'namespace', toggled: ['a'] });
    expect(nodes.map(({ label, members }) => [label, members])).toContainEqual(['a', 2]);
    const [joined] = edges.filter(({ from }) => from === 'group:namespace:a');
    expect(joined).toMatchObject({ callsPerMinute: 4, errorRate: 0.25 });
  });

  test('[FLO-6] Above 300 nodes, namespaces start closed and open one by one', () => {
    const nodes = Array.from({ length: 400 }, (_none, at) => fn(`ns${at % 4}::${at}`));
    const graph: FlowGraph = { nodes, edges: [], has_traces: true };
    expect(flowView(graph, ALL).nodes).toHaveLength(4);
    expect(flowView(graph, { ...ALL, toggled: ['ns1'] }).nodes).toHaveLength(103);
  });

  test('[FLO-6] 1 000 nodes are drawn at most, the most connected ones, and the rest is counted', () => {
    const nodes = Array.from({ length: 1_200 }, (_none, at) => fn(`plain${at}`));
    const graph: FlowGraph = { nodes, edges: [edge('plain1199', 'plain1198')], has_traces: true };
    const view = flowView(graph, ALL);
    expect(view.nodes).toHaveLength(1_000);
    expect(view.left).toBe(200);
    expect(view.edges).toHaveLength(1);
  });

  test('[FLO-3] Placed nodes stay where they are, and new nodes move nothing and cover nothing', () => {
    const nodes = ['a', 'b', 'new'].map((id) => ({ id, group: undefined }));
    const edges = [{ from: 'a', to: 'new' }];
    const known = { a: { x: 500, y: 500 }, b: { x: 836, y: 500 } };
    const fresh = { a: { x: 0, y: 0 }, b: { x: 336, y: 100 }, new: { x: 336, y: 0 } };
    const positions = keepPositions({ nodes, edges }, known, fresh);
    expect(positions).toMatchObject(known);
    expect(positions.new?.x).toBe(836);
    expect(positions.new?.y).toBeGreaterThanOrEqual(544);
  });

  test('[FLO-3] Without stored positions the layout is the fresh one', () => {
    const fresh = { a: { x: 1, y: 2 } };
    expect(keepPositions({ nodes: [{ id: 'a', group: undefined }], edges: [] }, {}, fresh)).toEqual(fresh);
  });

  test('Unconnected nodes are below everything else', () => {
    const positions = putBelow(['x', 'y'], { a: { x: 0, y: 0 } });
    expect(positions.x?.y).toBeGreaterThan(44);
    expect(positions.y?.x).toBeGreaterThan(positions.x?.x ?? 0);
  });

  test('[FLO-4] A frame contains all members of its group', () => {
    const nodes = ['a', 'b'].map((id) => ({ id, group: 'g' }));
    const [frame] = framesOf(nodes, { a: { x: 0, y: 0 }, b: { x: 400, y: 200 } });
    expect(frame?.x).toBeLessThan(0);
    expect((frame?.x ?? 0) + (frame?.width ?? 0)).toBeGreaterThan(608);
  });

  test('An invalid stored layout is ignored', () => {
    expect(readPositions({ places: { a: { x: 1, y: 2 }, b: { x: 'far' }, c: null } })).toEqual({ a: { x: 1, y: 2 } });
    expect(readPositions(null)).toEqual({});
  });

  test('[FLO-4] Names cannot add markup to the picture', () => {
    const graph: FlowGraph = { nodes: [fn('<script>&')], edges: [], has_traces: true };
    const colours = { ground: '#000', box: '#111', line: '#222', text: '#fff', muted: '#999', bad: '#f00' };
    const svg = flowSvg(flowView(graph, ALL), { 'function:<script>&': { x: 0, y: 0 } }, colours);
    expect(svg).toContain('&lt;script&gt;&amp;');
    expect(svg).not.toContain('<script');
  });
});
