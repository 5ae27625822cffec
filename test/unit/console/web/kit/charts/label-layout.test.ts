// The places of labels at lines in the flow and in the map of a trace.

import { describe, expect, test } from 'vitest';
import {
  type Box,
  bestShares,
  curveBetween,
  placeLabels,
} from '../../../../../../src/console/web/kit/charts/label-layout.ts';
import { flowFigures } from '../../../../../../src/console/web/pages/flow/logic/flow-drawing.ts';
import type { FlowView, ViewEdge } from '../../../../../../src/console/web/pages/flow/logic/flow-view.ts';
import {
  drawnEdges,
  MAP_LINE_PX,
  MAP_NODE,
  placeMap,
} from '../../../../../../src/console/web/pages/traces/logic/map-layout.ts';
import type { MapEdge, TraceMap } from '../../../../../../src/console/web/pages/traces/logic/trace-services.ts';

const SIZE = { width: 60, height: 16 };

function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function around({ x, y }: { x: number; y: number }, { width, height }: { width: number; height: number }): Box {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

function pairs<T>(all: readonly T[]): (readonly [T, T])[] {
  return all.flatMap((one, at) => all.slice(at + 1).map((other) => [one, other] as const));
}

describe('Labels of lines', () => {
  test('[FLO-2] Lines that cross each other have labels that do not overlap', () => {
    const start = { x: 0, y: 0 };
    const labels = [0, 20, 40, 60].map((y) => ({ ...SIZE, best: 0.5, curve: curveBetween(start, { x: 400, y }) }));
    const boxes = placeLabels(labels, []).map((place) => around(place, SIZE));
    expect(pairs(boxes).filter(([a, b]) => overlaps(a, b))).toEqual([]);
  });

  test('[FLO-2] Labels do not cover a box that their line passes under', () => {
    const box = { x: 150, y: -20, width: 100, height: 40 };
    const curve = curveBetween({ x: 0, y: 0 }, { x: 400, y: 0 });
    const [place] = placeLabels([{ ...SIZE, best: 0.5, curve }], [box]);
    expect(place && overlaps(around(place, SIZE), box)).toBe(false);
  });

  test('For one-to-many edges the labels are near each of the many ends, in both directions', () => {
    const fan = bestShares([
      { from: 'a', to: 'b' },
      { from: 'a', to: 'c' },
    ]);
    const funnel = bestShares([
      { from: 'b', to: 'a' },
      { from: 'c', to: 'a' },
    ]);
    expect(Math.min(...fan)).toBeGreaterThan(0.5);
    expect(Math.max(...funnel)).toBeLessThan(0.5);
    expect(bestShares([{ from: 'a', to: 'b' }])).toEqual([0.5]);
  });

  test('[FLO-2] The flow shows calls per minute and the share of failures where calls were seen', () => {
    const view: FlowView = {
      nodes: [],
      edges: [edge('a', 'b', 12, 0.25), edge('a', 'c', null, null)],
      groupBy: 'none',
      groups: [],
      left: 0,
    };
    const figures = flowFigures(view, { a: { x: 0, y: 0 }, b: { x: 336, y: 0 }, c: { x: 336, y: 62 } });
    expect([...figures].map(([id, { lines }]) => [id, lines])).toEqual([['a>b', ['12.0/min', '25 % fail']]]);
  });
});

function edge(from: string, to: string, callsPerMinute: number | null, errorRate: number | null): ViewEdge {
  return { id: `${from}>${to}`, from, to, kind: 'seen', callsPerMinute, errorRate, parts: [] };
}

describe('Lines of a trace map', () => {
  const node = (name: string) => ({ id: name, name, service: name, spanCount: 1, selfMs: 1, errorCount: 0 });
  const call = (from: string, to: string, more: Partial<MapEdge> = {}): MapEdge => {
    return { from, to, count: 4, errorCount: 0, p95Ms: 12.5, isLoop: false, ...more };
  };
  const map: TraceMap = {
    nodes: ['svc', 'office', 'shop', 'billing'].map(node),
    edges: [
      call('svc', 'office', { isLoop: true }),
      call('office', 'svc', { isLoop: true }),
      call('svc', 'shop', { isLoop: true }),
      call('shop', 'svc', { isLoop: true }),
      call('svc', 'billing', { errorCount: 2 }),
    ],
  };

  test('[TRC-14] No label covers another or a box, with calls in both directions', () => {
    const placed = placeMap(map);
    const drawn = drawnEdges(map.edges, placed);
    const words = drawn.map(({ at, lines }) => around(at, { width: 70, height: lines.length * MAP_LINE_PX }));
    const boxes = [...placed.positions.values()].map((place) => ({ ...place, ...MAP_NODE }));
    expect(drawn).toHaveLength(5);
    expect(pairs(words).filter(([a, b]) => overlaps(a, b))).toEqual([]);
    expect(words.filter((one) => boxes.some((box) => overlaps(one, box)))).toEqual([]);
  });

  test('[TRC-14] Calls back are a separate line', () => {
    const [there, back] = drawnEdges(map.edges, placeMap(map));
    expect(there?.curve[3].x).toBe(back?.curve[0].x);
    expect(there?.curve[3].y).not.toBe(back?.curve[0].y);
  });

  test('[TRC-14] The label counts failed calls', () => {
    expect(drawnEdges(map.edges, placeMap(map)).at(-1)?.lines).toEqual(['×4 · 12.5 ms', '2 errors']);
  });
});
