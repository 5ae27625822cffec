import { describe, expect, test } from 'vitest';
import { shareOut, topLines } from '../../../../src/cli/commands/watch/top.ts';
import { type CallSample, compareSamples, type TopFigures } from '../../../../src/cli/commands/watch/top-sample.ts';
import { createPainter } from '../../../../src/cli/text/colour.ts';

function sample(atMs: number, counts: Record<string, [calls: number, errors: number]>): CallSample {
  const entries = Object.entries(counts).map(([id, [calls, errors]]) => [id, { calls, errors, p95: 5 }] as const);
  return { atMs, isCounted: true, counts: new Map(entries), gauges: new Map() };
}

describe('svc top', () => {
  test('[console 6.6] rates are the increase between two samples, the busiest function first', () => {
    const figures = compareSamples(
      sample(0, { quiet: [100, 1], busy: [10, 0] }),
      sample(2_000, { quiet: [100, 1], busy: [50, 4], fresh: [2, 0] }),
    );
    expect(figures.map((row) => [row.function_id, row.calls_per_second, row.errors_per_second])).toEqual([
      ['busy', 20, 2],
      ['fresh', 1, 0],
      ['quiet', 0, 0],
    ]);
  });

  test('[console 6.6] after a restart of the engine no rate is negative', () => {
    const [row] = compareSamples(sample(0, { a: [1_000, 50] }), sample(1_000, { a: [3, 1] }));
    expect(row).toMatchObject({ calls_per_second: 3, errors_per_second: 1 });
  });

  test('[console 6.6] the screen never has more lines than the terminal', () => {
    const functions = compareSamples(
      sample(0, {}),
      sample(1_000, Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`f${index}`, [index, 0]]))),
    );
    const queues = Array.from({ length: 40 }, (_, index) => ({
      queue: `q${index}`,
      depth: 0,
      running: 0,
      dead: 0,
      paused: false,
    }));
    const figures: TopFigures = {
      time: '',
      interval_ms: 1_000,
      calls_per_second: 0,
      errors_per_second: 0,
      functions,
      queues,
      workers: [],
    };
    const paint = createPainter({ mode: 'never', env: {}, isTerminal: true });
    for (const rows of [12, 24, 50]) {
      expect(topLines(figures, 'ws://x', { columns: 80, rows }, paint).length).toBeLessThan(rows);
    }
    expect(shareOut(10, [2, 90, 0])).toEqual([2, 8, 0]);
  });
});
