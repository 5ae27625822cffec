import { describe, expect, test } from 'vitest';
import { criticalPath, treeIntervals } from '../../../../../src/core/telemetry/spans/critical-path.ts';
import type { TreeSpan } from '../../../../../src/core/telemetry/spans/trace-tree.ts';
import { START_NANO } from '../../../../support/telemetry/telemetry-records.ts';
import { treeSpan } from '../../../../support/telemetry/trace-spans.ts';

const NOW_NANO = START_NANO + 1_000 * 1e6;

function pathOf(root: TreeSpan): string[] {
  const ms = (nano: number) => Math.round((nano - START_NANO) / 1e6);
  return criticalPath(root, treeIntervals(NOW_NANO)).map(
    ({ span, start, end }) => `${span.name} ${ms(start)}-${ms(end)}`,
  );
}

describe('the critical path', () => {
  test('[TRC-7] of a span alone is the span', () => {
    expect(pathOf(treeSpan('root', 0, 10))).toEqual(['root 0-10']);
  });

  test('[TRC-7] follows the children that their parent waited for, one after the other', () => {
    const root = treeSpan('root', 0, 100, [treeSpan('a', 10, 30), treeSpan('b', 40, 90, [treeSpan('c', 50, 90)])]);
    expect(pathOf(root)).toEqual(['root 0-10', 'a 10-30', 'root 30-40', 'b 40-50', 'c 50-90', 'root 90-100']);
  });

  test('[TRC-7] follows the child that ended last of two parallel ones', () => {
    const root = treeSpan('root', 0, 100, [treeSpan('short', 10, 40), treeSpan('long', 10, 80)]);
    expect(pathOf(root)).toEqual(['root 0-10', 'long 10-80', 'root 80-100']);
  });

  test('[TRC-7] leaves out spans that were not waited for', () => {
    const root = treeSpan('root', 0, 50, [treeSpan('queued', 20, 400), treeSpan('waited', 10, 45)]);
    expect(pathOf(root)).toEqual(['root 0-10', 'waited 10-45', 'root 45-50']);
  });

  test('[TRC-11] tolerates clocks that differ by less than a millisecond', () => {
    const root = treeSpan('root', 0, 50, [treeSpan('other machine', 1, 50.5)]);
    expect(pathOf(root)).toEqual(['root 0-1', 'other machine 1-50']);
  });

  test('[TRC-7] of a running span ends now', () => {
    const root = treeSpan('root', 0, 0, [treeSpan('stuck', 10, 0, [], { pending: true })], { pending: true });
    expect(pathOf(root)).toEqual(['root 0-10', 'stuck 10-1000']);
  });

  test('[TRC-7] covers the root without a gap, at any depth', () => {
    let root = treeSpan('leaf', 20_000, 20_001);
    for (let depth = 19_999; depth >= 0; depth -= 1) root = treeSpan(`d${depth}`, depth, 40_000 - depth, [root]);
    const path = criticalPath(root, treeIntervals(NOW_NANO));
    expect(path[0]?.start).toBe(root.start_time_unix_nano);
    expect(path.at(-1)?.end).toBe(root.end_time_unix_nano);
    for (const [index, segment] of path.slice(1).entries()) expect(segment.start).toBe(path[index]?.end);
  });
});
