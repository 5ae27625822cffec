// The tree of a trace: the order of its rows, what is marked, which rows are shown.

import { describe, expect, test } from 'vitest';
import {
  buildTrace,
  FLAG,
  type TraceColumns,
} from '../../../../../../src/console/web/pages/traces/logic/trace-columns.ts';
import {
  errorRows,
  FOLD_MEMBERS_MIN,
  FULL_VIEW,
  visibleRows,
} from '../../../../../../src/console/web/pages/traces/logic/trace-rows.ts';
import { correctSkew, queueWaits } from '../../../../../../src/console/web/pages/traces/logic/trace-times.ts';
import { forEachSeed } from '../../../../../support/random/seeded-random.ts';
import {
  randomTrace,
  type SpanSketch,
  sketchTrace,
  spanId,
  TRACE_START_NS,
} from '../../../../../support/telemetry/sample-trace.ts';

function build(...sketches: SpanSketch[]): TraceColumns {
  return buildTrace(sketchTrace(...sketches), TRACE_START_NS).columns;
}

function names(columns: TraceColumns): string[] {
  return [...columns.nameOf].map((name) => columns.names[name] ?? '');
}

describe('the tree', () => {
  test('[TRC-5] Rows are ordered depth first, children by start', () => {
    const columns = build(
      { id: 'a', at: [0, 10] },
      { id: 'c', parent: 'a', at: [5, 9] },
      { id: 'b', parent: 'a', at: [1, 4] },
      { id: 'd', parent: 'b', at: [2, 3] },
    );
    expect(names(columns)).toEqual(['call a', 'call b', 'call d', 'call c']);
    expect([...columns.depth]).toEqual([0, 1, 2, 1]);
    expect([...columns.subtreeEnd]).toEqual([4, 3, 3, 4]);
  });

  test('[TRC-5] Self time is the time that no child covers', () => {
    const columns = build(
      { id: 'a', at: [0, 10] },
      { id: 'b', parent: 'a', at: [1, 5] },
      { id: 'c', parent: 'a', at: [3, 6] },
      { id: 'd', parent: 'a', at: [9, 20] },
    );
    expect([...columns.selfMs]).toEqual([4, 4, 3, 11]);
  });

  test('[TRC-11] A parent that never arrived is a row of its own, as long as its descendants', () => {
    const columns = build({ id: 'a', at: [0, 10] }, { id: 'b', parent: 'lost', at: [2, 4] });
    const row = names(columns).indexOf('unknown parent');
    expect(columns.ids[row]).toBe(spanId('lost'));
    expect(columns.flags[row]).toBe(FLAG.root | FLAG.unknownParent);
    expect([columns.startMs[row], columns.endMs[row]]).toEqual([2, 4]);
    expect(columns.spanCount).toBe(2);
  });

  test('[TRC-11] Spans that name each other as parents are still shown', () => {
    const columns = build({ id: 'a', parent: 'b', at: [0, 1] }, { id: 'b', parent: 'a', at: [0, 1] });
    expect(columns.count).toBe(2);
    expect(names(columns).sort()).toEqual(['call a', 'call b']);
  });

  test('[TRC-11] A child that starts before its parent or outlives it is marked, not moved', () => {
    const columns = build(
      { id: 'a', at: [5, 10] },
      { id: 'b', parent: 'a', at: [3, 6] },
      { id: 'c', parent: 'a', at: [6, 12] },
    );
    expect(columns.flags[1]).toBe(FLAG.startsBeforeParent);
    expect(columns.flags[2]).toBe(FLAG.outlivesParent);
    expect(columns.startMs[1]).toBe(0);
  });

  test('[TRC-11] Correction moves the child with its descendants into its parent, and counts them', () => {
    const columns = build(
      { id: 'a', at: [10, 20] },
      { id: 'b', parent: 'a', at: [0, 4] },
      { id: 'c', parent: 'b', at: [1, 2] },
    );
    const corrected = correctSkew(columns);
    expect(corrected.movedCount).toBe(2);
    expect([...corrected.columns.startMs]).toEqual([10, 13, 14]);
    expect([...columns.startMs]).toEqual([10, 0, 1]);
  });

  test('[TRC-1] A span that has not ended reaches to now and is counted', () => {
    const spans = sketchTrace({ id: 'a', at: [0, 0], pending: true });
    const { columns } = buildTrace(spans, TRACE_START_NS + 7_000_000);
    expect(columns.endMs[0]).toBe(7);
    expect(columns.pendingCount).toBe(1);
  });

  test('[TRC-16] A later record of a span replaces the earlier one', () => {
    const [early] = sketchTrace({ id: 'a', at: [0, 0], pending: true });
    const [late] = sketchTrace({ id: 'a', at: [0, 3], status: 'error' });
    const { columns } = buildTrace(
      [early, late].filter((span) => span !== undefined),
      TRACE_START_NS,
    );
    expect(columns.count).toBe(1);
    expect([columns.errorCount, columns.pendingCount]).toEqual([1, 0]);
  });

  test('[TRC-10] A chain of 20 000 spans is built without recursion', () => {
    const sketches = Array.from({ length: 20_000 }, (_, index) => ({
      id: index.toString(16),
      ...(index > 0 && { parent: (index - 1).toString(16) }),
      at: [0, 1] as const,
    }));
    const columns = build(...sketches);
    expect(columns.depth.at(-1)).toBe(19_999);
    expect(visibleRows(columns, FULL_VIEW).entries).toHaveLength(20_000);
  });

  test('[TRC-11] No span of any trace is lost, and subtrees nest', () => {
    forEachSeed(30, (random) => {
      const spans = randomTrace(random, 1 + random.below(200));
      const { columns, spans: rows } = buildTrace(spans, TRACE_START_NS);
      expect(columns.spanCount).toBe(spans.length);
      expect(new Set(rows.filter((span) => span !== null).map((span) => span.span_id)).size).toBe(spans.length);
      for (let row = 0; row < columns.count; row += 1) {
        const parent = columns.parent[row] ?? -1;
        if (parent === -1) continue;
        expect(parent).toBeLessThan(row);
        expect(columns.subtreeEnd[row]).toBeLessThanOrEqual(columns.subtreeEnd[parent] ?? 0);
      }
    });
  });
});

describe('rows', () => {
  const deep = build(
    { id: 'a', at: [0, 10] },
    { id: 'b', parent: 'a', at: [1, 4] },
    { id: 'c', parent: 'b', at: [2, 3], status: 'error' },
    { id: 'd', parent: 'a', at: [5, 6] },
  );

  test('[TRC-5] A level closes all rows below it, and a single row opens by hand', () => {
    expect([...visibleRows(deep, { ...FULL_VIEW, level: 1 }).entries]).toEqual([0, 1, 3]);
    const byHand = { ...FULL_VIEW, level: 0, toggled: new Set([spanId('a')]) };
    expect([...visibleRows(deep, byHand).entries]).toEqual([0, 1, 3]);
  });

  test('[TRC-5] "Only errors" keeps their ancestors', () => {
    expect([...visibleRows(deep, { ...FULL_VIEW, only: errorRows(deep) }).entries]).toEqual([0, 1, 2]);
  });

  test('[TRC-5] A closed row still counts the errors below it', () => {
    expect([...deep.errorsBelow]).toEqual([1, 1, 1, 0]);
  });

  test('[TRC-10] Repeated siblings fold into one row with count, total, p50 and max', () => {
    const queries = Array.from({ length: 312 }, (_, index) => ({
      id: `5${index.toString(16).padStart(4, '0')}`,
      parent: 'a',
      name: `SELECT order ${index}`,
      at: [index, index + 1 + (index === 100 ? 9 : 0)] as const,
    }));
    const columns = build({ id: 'a', at: [0, 400] }, ...queries, { id: 'b', parent: 'a', at: [350, 360] });
    const rows = visibleRows(columns, { ...FULL_VIEW, isFolding: true });
    expect([...rows.entries]).toEqual([0, -1, 313]);
    const [fold] = rows.folds;
    expect(fold).toMatchObject({ label: 'SELECT order #', totalMs: 321, p50Ms: 1, maxMs: 10, isOpen: false });
    expect(fold?.members).toHaveLength(312);
    const open = visibleRows(columns, { ...FULL_VIEW, isFolding: true, openFolds: new Set([fold?.key ?? '']) });
    expect(open.entries).toHaveLength(3 + 312);
    expect(open.depths[2]).toBe(2);
  });

  test('[TRC-10] Fewer siblings stay single rows', () => {
    const few = Array.from({ length: FOLD_MEMBERS_MIN - 1 }, (_, index) => ({
      id: `${index + 1}`,
      parent: 'a',
      name: 'SELECT',
      at: [index, index + 1] as const,
    }));
    const columns = build({ id: 'a', at: [0, 400] }, ...few);
    expect(visibleRows(columns, { ...FULL_VIEW, isFolding: true }).folds).toEqual([]);
  });
});

test('[TRC-5] Waiting in a queue and between attempts becomes a segment before the attempt', () => {
  const columns = build(
    { id: 'e', name: 'enqueue mail::send → mail', at: [0, 1] },
    { id: '1', parent: 'e', name: 'fn_queue mail', at: [5, 6], status: 'error' },
    { id: '2', parent: 'e', name: 'fn_queue mail', at: [9, 10] },
  );
  const waits = queueWaits(columns);
  expect([...waits.rows]).toEqual([1, 2]);
  expect([...waits.fromMs]).toEqual([1, 6]);
  expect([...waits.toMs]).toEqual([5, 9]);
  expect([...waits.isRetry]).toEqual([0, 1]);
});
