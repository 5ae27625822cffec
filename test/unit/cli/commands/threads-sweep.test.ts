import { expect, test } from 'vitest';
import { recommend, sweepText, threadsOf } from '../../../../src/cli/commands/bench/threads-sweep.ts';

const run = (threads: number, perSecond: number) => ({
  ...{ threads, per_second: perSecond },
  ...{ p99_ms: 1, rss_bytes: 104_857_600 },
});

test.each([
  [1, [1]],
  [2, [1, 2]],
  [6, [1, 2, 4]],
  [16, [1, 2, 4, 8, 16]],
])('on %d cores a sweep measures %j threads', (cores, expected) => {
  expect(threadsOf(cores)).toEqual(expected);
});

test.each([
  ['one router where more are not faster', [run(1, 100), run(2, 90)], 1, 'more routers are not faster here'],
  ['one router where more are hardly faster', [run(1, 100), run(2, 104)], 1, '2 routers are less than 5 % faster'],
  ['the fastest', [run(1, 100), run(2, 180), run(4, 300)], 4, 'it has 3.00 times the rate of one'],
  [
    'fewer than the fastest, if they are nearly as fast',
    [run(1, 100), run(2, 196), run(4, 200)],
    2,
    'it has 1.96 times the rate of one; 4 routers are less than 5 % faster',
  ],
  ['one on one core', [run(1, 100)], 1, 'this machine has one core'],
])('a sweep recommends %s', (_what, runs, threads, reason) => {
  expect(recommend(runs)).toEqual({ threads, reason });
});

test('the table of a sweep ends with the recommendation', () => {
  const runs = [run(1, 100), run(2, 180)];
  const text = sweepText({ kind: 'invoke', cores: 2, processes: 1, runs, recommended: recommend(runs) });
  expect(text).toContain('THREADS  PER SECOND  P99 MS  MEMORY MIB');
  expect(text).toContain('      2         180    1.00         100');
  expect(text).toMatch(/Recommended: threads: 2, because it has 1\.80 times the rate of one\.$/);
});
