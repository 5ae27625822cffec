// The critical path: the segments that determined the end of the root.

import { expect, test } from 'vitest';
import {
  criticalPathOf,
  pathByService,
  rootOf,
  rowIntervals,
} from '../../../../../../src/console/web/pages/traces/logic/critical-path.ts';
import { buildTrace, type TraceColumns } from '../../../../../../src/console/web/pages/traces/logic/trace-columns.ts';
import { criticalPath, treeIntervals } from '../../../../../../src/core/telemetry/spans/critical-path.ts';
import { buildTree } from '../../../../../../src/core/telemetry/spans/trace-tree.ts';
import { forEachSeed } from '../../../../../support/random/seeded-random.ts';
import {
  randomTrace,
  type SpanSketch,
  sketchSpan,
  sketchTrace,
  TRACE_START_NS,
} from '../../../../../support/telemetry/sample-trace.ts';

function segments(columns: TraceColumns): [string, number, number][] {
  const path = criticalPathOf(columns);
  return [...path.spans].map((row, index) => [
    columns.names[columns.nameOf[row] ?? 0] ?? '',
    path.fromMs[index] ?? 0,
    path.toMs[index] ?? 0,
  ]);
}

function build(...sketches: SpanSketch[]): TraceColumns {
  return buildTrace(sketchTrace(...sketches), TRACE_START_NS).columns;
}

test('[TRC-7] Follows the child that ended last, not the ones that ran in parallel', () => {
  const columns = build(
    { id: 'a', at: [0, 12] },
    { id: 'b', parent: 'a', at: [1, 10] },
    { id: 'c', parent: 'a', at: [2, 9] },
    { id: 'd', parent: 'b', at: [3, 8] },
  );
  expect(segments(columns)).toEqual([
    ['call a', 0, 1],
    ['call b', 1, 3],
    ['call d', 3, 8],
    ['call b', 8, 10],
    ['call a', 10, 12],
  ]);
});

test('[TRC-7] Follows one child after the other', () => {
  const columns = build(
    { id: 'a', at: [0, 12] },
    { id: 'b', parent: 'a', at: [0, 5] },
    { id: 'c', parent: 'a', at: [6, 12] },
  );
  expect(segments(columns)).toEqual([
    ['call b', 0, 5],
    ['call a', 5, 6],
    ['call c', 6, 12],
  ]);
});

test('[TRC-7] Leaves out a child that its parent did not wait for', () => {
  const columns = build({ id: 'a', at: [0, 10] }, { id: 'b', parent: 'a', at: [4, 30] });
  expect(segments(columns)).toEqual([['call a', 0, 10]]);
});

test('[TRC-7] The page and the command line find the same path', () => {
  forEachSeed(60, (random) => {
    // Multiples of 3 ms: no two times differ by exactly the slack of clocks.
    const moment = (): number => 3 * random.below(40);
    const records = Array.from({ length: 1 + random.below(80) }, (_, index) => {
      const start = moment();
      const parent = index > 0 ? { parent: random.below(index).toString(16) } : {};
      return sketchSpan({ id: index.toString(16), ...parent, at: [start, start + moment()] });
    });
    const { columns } = buildTrace(records, TRACE_START_NS);
    const tree = buildTree(records, { maxDepth: 1_000, parent: undefined, duration: () => 0 });
    const ofTree = tree.flatMap((root) => criticalPath(root, treeIntervals(TRACE_START_NS)));
    const ofRows = criticalPath(0, rowIntervals(columns));
    expect(ofRows.map(({ span, start, end }) => [columns.ids[span], Math.round(start), Math.round(end)])).toEqual(
      ofTree.map(({ span, start, end }) => [
        span.span_id,
        Math.round((start - columns.startUnixNano) / 1e6),
        Math.round((end - columns.startUnixNano) / 1e6),
      ]),
    );
  });
});

test('[TRC-7] Lists the share of each service, largest first', () => {
  const columns = build({ id: 'a', at: [0, 10] }, { id: 'b', parent: 'a', at: [1, 9], service_name: 'billing' });
  expect(pathByService(columns, criticalPathOf(columns))).toEqual([
    { service: 'billing', totalMs: 8 },
    { service: 'api', totalMs: 2 },
  ]);
});

test('[TRC-7] The segments of any trace cover the root without hole or overlap', () => {
  forEachSeed(40, (random) => {
    const { columns } = buildTrace(randomTrace(random, 1 + random.below(150)), TRACE_START_NS);
    const root = rootOf(columns) ?? 0;
    const path = criticalPathOf(columns);
    let reached = columns.startMs[root] ?? 0;
    path.spans.forEach((_, index) => {
      expect(path.fromMs[index]).toBeCloseTo(reached, 6);
      expect(path.toMs[index]).toBeGreaterThan(path.fromMs[index] ?? 0);
      reached = path.toMs[index] ?? 0;
    });
    expect(reached).toBeCloseTo(columns.endMs[root] ?? 0, 6);
  });
});

test('[TRC-7] Enters each of 100 000 spans once at most', () => {
  const wide = Array.from({ length: 100_000 }, (_, index) => ({
    id: (index + 1).toString(16),
    parent: '0',
    at: [index, index + 1] as const,
  }));
  const { columns } = buildTrace([sketchSpan({ id: '0', at: [0, 100_000] }), ...wide.map(sketchSpan)], TRACE_START_NS);
  expect(criticalPathOf(columns).spans).toHaveLength(100_000);
});
