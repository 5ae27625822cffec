import { describe, expect, test } from 'vitest';
import { layoutTrace } from '../../../../../src/core/telemetry/spans/trace-layout.ts';
import { START_NANO } from '../../../../support/telemetry/telemetry-records.ts';
import { treeSpan } from '../../../../support/telemetry/trace-spans.ts';

const NOW_NANO = START_NANO + 1_000 * 1e6;

describe('the layout of a trace', () => {
  test('[TRC-5] has rows in tree order, with position, width and self time', () => {
    const root = treeSpan('root', 0, 100, [
      treeSpan('a', 0, 25, [treeSpan('a1', 5, 15), treeSpan('a2', 10, 20)]),
      treeSpan('b', 50, 100, [], { service_name: 'billing' }),
    ]);
    const { rows, ...whole } = layoutTrace([root], NOW_NANO);
    expect(
      rows.map(({ span, depth, offset, width, selfMs, isCritical }) => [
        span.name,
        depth,
        Number(offset.toFixed(3)),
        Number(width.toFixed(3)),
        selfMs,
        isCritical,
      ]),
    ).toEqual([
      ['root', 0, 0, 1, 25, true],
      ['a', 1, 0, 0.25, 10, true],
      ['a1', 2, 0.05, 0.1, 10, false],
      ['a2', 2, 0.1, 0.1, 10, true],
      ['b', 1, 0.5, 0.5, 50, true],
    ]);
    expect(whole).toMatchObject({ durationMs: 100, spanCount: 5, services: ['billing', 'orders'], status: 'ok' });
  });

  test('[TRC-5] has the tree lines that continue past each row', () => {
    const root = treeSpan('root', 0, 9, [treeSpan('a', 0, 3, [treeSpan('a1', 0, 1)]), treeSpan('b', 3, 9)]);
    const { rows } = layoutTrace([root], NOW_NANO);
    expect(rows.map(({ openLevels, isLastChild }) => [openLevels, isLastChild])).toEqual([
      [[], true],
      [[], false],
      [[true], true],
      [[], true],
    ]);
  });

  test('[TRC-1] is pending while the root runs, an error after a span failed, or ok', () => {
    const failed = treeSpan('failed', 1, 2, [], { status: 'error' });
    expect(layoutTrace([treeSpan('root', 0, 9, [failed])], NOW_NANO).status).toBe('error');
    expect(layoutTrace([treeSpan('root', 0, 0, [failed], { pending: true })], NOW_NANO).status).toBe('pending');
  });

  test('[TRC-11] marks a child outside its parent and does not move it', () => {
    const root = treeSpan('root', 10, 20, [treeSpan('early', 0, 15), treeSpan('inside', 12, 14)]);
    const { rows } = layoutTrace([root], NOW_NANO);
    expect(rows.map(({ span, isOutsideParent }) => [span.name, isOutsideParent])).toEqual([
      ['root', false],
      ['early', true],
      ['inside', false],
    ]);
    expect(rows[1]?.offset).toBe(0);
  });

  test('[TRC-5] leaves out levels below the maximum depth, and counts their spans', () => {
    const root = treeSpan('root', 0, 9, [treeSpan('a', 0, 3, [treeSpan('a1', 0, 1)])]);
    const { rows, spanCount } = layoutTrace([root], NOW_NANO, 1);
    expect(rows.map(({ span }) => span.name)).toEqual(['root', 'a']);
    expect(spanCount).toBe(3);
  });

  test('of no spans is empty', () => {
    expect(layoutTrace([], NOW_NANO)).toMatchObject({ rows: [], durationMs: 0, spanCount: 0, services: [] });
  });
});
