import { expect, test } from 'vitest';
import { boundsOf, keepRange, LIVE, rangeLabel, windowOf } from '../../../../../src/console/web/data/time-range.ts';

const NOW_MS = 1_800_000_000_000;

test('[APP-16] A range is two moments, relative or absolute; what cannot be read is no bound', () => {
  expect(boundsOf({ from: 'now-15m', to: '' }, NOW_MS)).toEqual({ start_time: NOW_MS - 900_000 });
  expect(boundsOf({ from: '1800000000000', to: '2027-01-15T08:01:00Z' }, NOW_MS)).toEqual({
    start_time: NOW_MS,
    end_time: NOW_MS + 60_000,
  });
  expect(boundsOf({ from: 'soon', to: '' }, NOW_MS)).toEqual({});
  expect(boundsOf(LIVE, NOW_MS)).toEqual({});
});

test('[APP-16] Figures without a range have the window of their page', () => {
  expect(windowOf(LIVE, 60_000, NOW_MS)).toEqual({ start_time: NOW_MS - 60_000, end_time: NOW_MS });
  expect(windowOf({ from: 'now-1h', to: 'now-30m' }, 60_000, NOW_MS)).toEqual({
    start_time: NOW_MS - 3_600_000,
    end_time: NOW_MS - 1_800_000,
  });
});

test('[APP-16] A link to another page keeps the range and drops the rest of the address', () => {
  expect(keepRange({ from: 'now-1h', q: 'x', id: 'y' })).toEqual({ from: 'now-1h', to: undefined });
  expect([rangeLabel(LIVE), rangeLabel({ from: 'now-1h', to: '' })]).toEqual(['Live', 'Last hour']);
});
