// Two traces side by side (TRC-18).

import { describe, expect, test } from 'vitest';
import { buildTrace } from '../../../../../../src/console/web/pages/traces/logic/trace-columns.ts';
import { compareTraces } from '../../../../../../src/console/web/pages/traces/logic/trace-compare.ts';
import { SeededRandom } from '../../../../../support/random/seeded-random.ts';
import { randomTrace, type SpanSketch, sketchTrace } from '../../../../../support/telemetry/sample-trace.ts';

const columnsOf = (...sketches: readonly SpanSketch[]) => buildTrace(sketchTrace(...sketches), 0).columns;
const compared = (before: readonly SpanSketch[], after: readonly SpanSketch[]) =>
  compareTraces(columnsOf(...before), columnsOf(...after)).map(
    ({ depth, name, change }) => `${'  '.repeat(depth)}${name} ${change}`,
  );

describe('two traces of the same root', () => {
  test('[TRC-18] Spans are aligned by path: added, missing, slower, faster, same', () => {
    const root = { id: 'r', name: 'root' };
    const before: SpanSketch[] = [
      { ...root, at: [0, 100] },
      { id: 'a', parent: 'r', at: [0, 40], name: 'read' },
      { id: 'b', parent: 'r', at: [40, 60], name: 'charge' },
      { id: 'c', parent: 'b', at: [45, 50], name: 'audit' },
      { id: 'd', parent: 'r', at: [60, 90], name: 'mail' },
    ];
    const after: SpanSketch[] = [
      { ...root, at: [0, 105] },
      { id: 'x', parent: 'r', at: [0, 80], name: 'read' },
      { id: 'y', parent: 'r', at: [80, 85], name: 'charge' },
      { id: 'z', parent: 'y', at: [81, 82], name: 'log' },
      { id: 'w', parent: 'r', at: [60, 90.5], name: 'mail' },
    ];
    expect(compared(before, after)).toEqual([
      'root same',
      '  read slower',
      '  mail same',
      '  charge faster',
      '    audit missing',
      '    log added',
    ]);
  });

  test('[TRC-18] Of spans with one name the first is compared with the first, and the service is part of the path', () => {
    const call = (id: string, at: readonly [number, number], service_name = 'api'): SpanSketch => ({
      ...{ id, parent: 'r', at, name: 'call', service_name },
    });
    const root: SpanSketch = { id: 'r', name: 'root', at: [0, 100] };
    expect(
      compared(
        [root, call('a', [0, 10]), call('b', [10, 30])],
        [root, call('c', [0, 10]), call('d', [10, 80]), call('e', [80, 85]), call('f', [90, 91], 'other')],
      ),
    ).toEqual(['root same', '  call same', '  call slower', '  call added', '  call added']);
  });

  test('[TRC-18] Every span of both is in exactly one line, after its parent', () => {
    const random = new SeededRandom(11);
    for (let round = 0; round < 20; round += 1) {
      const [before, after] = [randomTrace(random, 60), randomTrace(random, 80)].map(
        (spans) => buildTrace(spans, 0).columns,
      );
      if (before === undefined || after === undefined) throw new Error('two traces were made');
      const lines = compareTraces(before, after);
      expect(lines.filter(({ beforeMs }) => beforeMs !== undefined).length).toBe(before.count);
      expect(lines.flatMap(({ row }) => row ?? []).sort((a, b) => a - b)).toEqual([...Array(after.count).keys()]);
      for (const [at, { depth }] of lines.entries()) {
        expect(depth).toBeLessThanOrEqual((lines[at - 1]?.depth ?? -1) + 1);
      }
      expect(compareTraces(after, after).every(({ change }) => change === 'same')).toBe(true);
    }
  });
});
