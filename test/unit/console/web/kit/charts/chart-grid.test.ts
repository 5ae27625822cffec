import { expect, test } from 'vitest';
import { sampled, timesOf } from '../../../../../../src/console/web/kit/charts/chart-grid.ts';

test('[DSH-2] Snapshots have the points of the grid: the last of each step, one missing step is bridged, more are a hole', () => {
  const times = timesOf(0, 60, 10);
  expect(times).toEqual([10, 20, 30, 40, 50, 60]);
  const items = [
    { at: 1, value: 1 },
    { at: 10, value: 2 },
    { at: 35, value: 4 },
    { at: 99, value: 9 },
  ];
  const values = sampled({ times, startMs: 0, stepMs: 10 }, items, ({ value }) => value);
  expect(values).toEqual([2, 2, null, 4, 4, null]);
});
