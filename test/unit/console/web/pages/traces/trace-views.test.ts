// What is drawn of a trace: time scale, blocks, flame graphs, services, map, find.

import { describe, expect, test } from 'vitest';
import {
  barOf,
  mergeBlocks,
  msAt,
  panned,
  rulerMarks,
  rulerText,
  xOf,
  zoomed,
} from '../../../../../../src/console/web/kit/charts/time-scale.ts';
import { criticalPathOf } from '../../../../../../src/console/web/pages/traces/logic/critical-path.ts';
import { flameByName, flameLanes } from '../../../../../../src/console/web/pages/traces/logic/flame-layout.ts';
import { buildTrace } from '../../../../../../src/console/web/pages/traces/logic/trace-columns.ts';
import { findInTrace, nextMatch } from '../../../../../../src/console/web/pages/traces/logic/trace-find.ts';
import { serviceBreakdown, traceMap } from '../../../../../../src/console/web/pages/traces/logic/trace-services.ts';
import { forEachSeed } from '../../../../../support/random/seeded-random.ts';
import { randomTrace, sketchTrace, spanId, TRACE_START_NS } from '../../../../../support/telemetry/sample-trace.ts';

const scale = { fromMs: 0, toMs: 1_000, widthPx: 500 };

describe('time and pixels', () => {
  test('[TRC-9] The shortest span is one pixel wide, at the right edge too', () => {
    expect(barOf(scale, 500, 500.001)).toEqual({ x: 250, width: 1 });
    expect(barOf(scale, 1_000, 1_000)).toEqual({ x: 499, width: 1 });
    expect(barOf(scale, 1_001, 1_002)).toBeNull();
  });

  test('[TRC-9] Neighbours too small to distinguish are one block that counts them', () => {
    const dense = Array.from({ length: 100 }, (_, index) => ({ startMs: index, endMs: index + 0.5 }));
    const [block, ...rest] = mergeBlocks(scale, dense);
    expect(rest).toEqual([]);
    expect(block).toMatchObject({ count: 100, first: 0 });
    const closer = mergeBlocks({ fromMs: 0, toMs: 10, widthPx: 500 }, dense);
    expect(closer.map((near) => near.count)).toEqual(Array.from({ length: 11 }, () => 1));
  });

  test('[TRC-9] Blocks count every interval inside the scale', () => {
    forEachSeed(30, (random) => {
      const intervals = Array.from({ length: random.below(300) }, () => random.below(1_000))
        .sort((a, b) => a - b)
        .map((startMs) => ({ startMs, endMs: startMs + random.below(40) }));
      const blocks = mergeBlocks(scale, intervals);
      expect(blocks.reduce((sum, block) => sum + block.count, 0)).toBe(intervals.length);
    });
  });

  test('[TRC-6] A pixel maps back to its time', () => {
    forEachSeed(20, (random) => {
      const x = random.below(500);
      expect(xOf(scale, msAt(scale, x))).toBeCloseTo(x, 6);
    });
  });

  test('[TRC-6] Zoom keeps the time under the pointer and stays within the trace', () => {
    const whole = { fromMs: 0, toMs: 1_000 };
    const near = zoomed(whole, whole, 250, 0.5);
    expect(near).toEqual({ fromMs: 125, toMs: 625 });
    expect(zoomed(near, whole, 250, 100)).toEqual(whole);
    expect(panned(near, whole, 10_000)).toEqual({ fromMs: 500, toMs: 1_000 });
    expect(panned(near, whole, -10_000)).toEqual({ fromMs: 0, toMs: 500 });
  });

  test('[TRC-5] Ruler marks are round, not too close, and written alike', () => {
    const marks = rulerMarks({ fromMs: 0, toMs: 182, widthPx: 900 });
    expect(marks).toEqual([0, 20, 40, 60, 80, 100, 120, 140, 160, 180]);
    expect([0, 0.05, 0.1].map((ms) => rulerText(ms, 0.05))).toEqual(['0 µs', '50 µs', '100 µs']);
    expect([0, 0.5].map((ms) => rulerText(ms * 1_000, 500))).toEqual(['0 ms', '500 ms']);
    expect(rulerText(4_000, 2_000)).toBe('4 s');
  });

  test('[TRC-5] A ruler of a range below the precision of the clock still ends', () => {
    expect(rulerMarks({ fromMs: 1e15, toMs: 1e15 + 0.25, widthPx: 900 }).length).toBeLessThan(20);
  });
});

describe('flame graphs', () => {
  test('[TRC-12] In time order no span covers another', () => {
    forEachSeed(30, (random) => {
      const { columns } = buildTrace(randomTrace(random, 1 + random.below(120)), TRACE_START_NS);
      const { lane, laneCount } = flameLanes(columns);
      const startOf = (row: number) => columns.startMs[row] ?? 0;
      const endOf = (row: number) => columns.endMs[row] ?? 0;
      for (let at = 0; at < laneCount; at += 1) {
        const spans = [...lane.keys()]
          .filter((row) => lane[row] === at)
          // A span without a duration may lie where another one begins.
          .sort((a, b) => startOf(a) - startOf(b) || endOf(a) - endOf(b));
        spans.slice(1).forEach((row, index) => {
          expect(startOf(row)).toBeGreaterThanOrEqual(endOf(spans[index] ?? 0));
        });
      }
    });
  });

  test('[TRC-12] A child lies below its parent', () => {
    forEachSeed(20, (random) => {
      const { columns } = buildTrace(randomTrace(random, 100), TRACE_START_NS);
      const { lane } = flameLanes(columns);
      columns.parent.forEach((parent, row) => {
        if (parent !== -1) expect(lane[row]).toBeGreaterThan(lane[parent] ?? 0);
      });
    });
  });

  test('[TRC-12] Ten thousand parallel spans end on the last lane, and are counted', () => {
    const sketches = Array.from({ length: 10_000 }, (_, index) => ({ id: index.toString(16), at: [0, 10] as const }));
    const { columns } = buildTrace(sketchTrace(...sketches), TRACE_START_NS);
    const { laneCount, crowdedCount } = flameLanes(columns);
    expect(laneCount + crowdedCount).toBe(10_000);
  });

  test('[TRC-12] By name, equal paths are one block as wide as their share of the time', () => {
    const { columns } = buildTrace(
      sketchTrace(
        { id: 'a', at: [0, 10] },
        { id: 'b', parent: 'a', name: 'query', at: [0, 2] },
        { id: 'c', parent: 'a', name: 'query', at: [3, 6] },
      ),
      TRACE_START_NS,
    );
    expect(flameByName(columns)).toMatchObject([
      { name: 'call a', depth: 0, from: 0, width: 1, count: 1, totalMs: 10, selfMs: 5 },
      { name: 'query', depth: 1, from: 0, width: 0.5, count: 2, totalMs: 5, selfMs: 5 },
    ]);
  });
});

const shop = buildTrace(
  sketchTrace(
    { id: 'a', at: [0, 10] },
    { id: 'b', parent: 'a', at: [1, 9], service_name: 'billing', status: 'error' },
    { id: 'c', parent: 'b', name: 'call a', at: [2, 4], attributes: [['order.id', 'o-81']] },
    { id: 'd', parent: 'b', at: [5, 6], service_name: 'billing' },
  ),
  TRACE_START_NS,
);

describe('services', () => {
  test('[TRC-13] Each has spans, average duration, error rate, self time and its share of the path', () => {
    const breakdown = serviceBreakdown(shop.columns, criticalPathOf(shop.columns));
    expect(breakdown).toEqual([
      { service: 'billing', spanCount: 2, errorCount: 1, averageMs: 4.5, selfMs: 6, pathShare: expect.closeTo(0.6) },
      { service: 'api', spanCount: 2, errorCount: 0, averageMs: 6, selfMs: 4, pathShare: expect.closeTo(0.4) },
    ]);
  });

  test('[TRC-14] The map has calls as edges with count, p95 and errors, and shows no service as a loop', () => {
    const map = traceMap(shop.columns, 'service');
    expect(map.nodes.map((node) => [node.id, node.spanCount])).toEqual([
      ['api', 2],
      ['billing', 2],
    ]);
    expect(map.edges).toEqual([
      { from: 'api', to: 'billing', count: 1, errorCount: 1, p95Ms: 8, isLoop: false },
      { from: 'billing', to: 'api', count: 1, errorCount: 0, p95Ms: 2, isLoop: false },
    ]);
  });

  test('[TRC-14] By function, a function that calls itself is a loop and a plain chain is not', () => {
    const { columns } = buildTrace(
      sketchTrace(
        { id: 'a', name: 'walk', at: [0, 9] },
        { id: 'b', name: 'walk', parent: 'a', at: [1, 8] },
        { id: 'c', name: 'leaf', parent: 'b', at: [2, 3] },
      ),
      TRACE_START_NS,
    );
    const loops = traceMap(columns, 'function').edges.map((edge) => [edge.from, edge.to, edge.isLoop]);
    expect(loops).toEqual([
      ['api walk', 'api walk', true],
      ['api walk', 'api leaf', false],
    ]);
  });
});

describe('find in trace', () => {
  const find = (query: string, logs: { spanId: string; text: string }[] = []): number[] => {
    const found = findInTrace(shop.spans, shop.columns.ids, logs, query);
    return [...found.keys()].filter((row) => found[row] === 1);
  };

  test.each([
    ['name', 'CALL B', [1]],
    ['service', 'billing', [1, 3]],
    ['attribute value', 'o-81', [2]],
    ['attribute pair', 'order.id=O-81', [2]],
    ['id', spanId('d'), [3]],
    ['nothing', '  ', []],
  ])('[TRC-8] by %s', (_by, query, rows) => {
    expect(find(query)).toEqual(rows);
  });

  test('[TRC-8] finds the text of its logs', () => {
    expect(find('card declined', [{ spanId: spanId('d'), text: 'Card declined: 51' }])).toEqual([3]);
  });

  test('[TRC-8] Next and previous wrap around', () => {
    const found = Uint8Array.from([0, 1, 0, 1]);
    expect([nextMatch(found, 3, 1), nextMatch(found, 1, -1), nextMatch(found, 0, 1)]).toEqual([1, 3, 1]);
    expect(nextMatch(new Uint8Array(3), 0, 1)).toBeUndefined();
  });
});
