// The small flow of the Dashboard.

import { expect, test } from 'vitest';
import type { FlowGraph, FlowNode } from '../../../../../../src/console/api/flow.ts';
import { previewOf } from '../../../../../../src/console/web/pages/dashboard/logic/flow-preview.ts';

function node(id: string, kind: FlowNode['kind']): FlowNode {
  const facts = {
    namespace: null,
    worker: null,
    trigger_type: null,
    method: null,
    status: 'ok',
    internal: false,
  } as const;
  return { id, kind, label: id, ...facts };
}

const edge = (from: string, to: string) => {
  return { id: `${from}>${to}`, from, to, kind: 'registered', calls_per_minute: null, error_rate: null } as const;
};

const graph: FlowGraph = {
  nodes: [
    ...['z-http', 'a-idle', 'state-trigger'].map((id) => node(id, 'trigger')),
    ...['busy', 'calm'].map((id) => node(id, 'function')),
    node('scope', 'state'),
  ],
  edges: [edge('z-http', 'busy'), edge('busy', 'scope'), edge('scope', 'state-trigger'), edge('state-trigger', 'calm')],
  has_traces: true,
};

test('[DSH-3] A trigger is next to its function, and one without a function comes last', () => {
  const triggers = previewOf(graph).nodes.filter(({ node: { kind } }) => kind === 'trigger');
  expect(triggers.toSorted((a, b) => a.y - b.y).map(({ node: { id } }) => id)).toEqual([
    'z-http',
    'state-trigger',
    'a-idle',
  ]);
});

test('[DSH-3] No line passes under functions that it does not belong to', () => {
  const lines = previewOf(graph).edges.map(({ from, to }) => [from.node.kind, to.node.kind]);
  expect(lines).toHaveLength(3);
  expect(lines.every((ends) => ends.includes('function'))).toBe(true);
});
