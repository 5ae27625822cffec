import { describe, expect, test } from 'vitest';
import { MetricStore } from '../../../../../src/core/telemetry/metrics/metric-store.ts';
import { ROLLUP_NAMES_MAX, RollupStore } from '../../../../../src/core/telemetry/metrics/rollup.ts';
import { histogramPoint, metricRecord, START_NANO } from '../../../../support/telemetry/telemetry-records.ts';

const START_MS = START_NANO / 1e6;

describe('rollups', () => {
  const HOUR_MS = 3_600_000;
  const query = (level: 0 | 1 | 2) => ({ level, startTime: 0, endTime: 1e15, name: undefined });

  test('count each value once per level, and keep each level for its retention', () => {
    const store = new RollupStore(() => {});
    const nowMs = Math.floor(START_MS / HOUR_MS) * HOUR_MS + 30 * 60_000;
    for (let at = 0; at < 600; at++) store.addNumber('m', nowMs - at * 1_000, 2, nowMs);
    for (const level of [0, 1, 2] as const) {
      const { rollups } = store.list(query(level));
      expect(rollups.reduce((sum, row) => sum + row.sum, 0)).toBe(1_200);
    }
    expect(store.list(query(2)).rollups).toHaveLength(1);
    store.expire(nowMs + 2 * HOUR_MS);
    expect(store.list(query(0)).rollups).toEqual([]);
    expect(store.list(query(1)).rollups.length).toBeGreaterThan(0);
    store.expire(nowMs + 7 * HOUR_MS);
    expect(store.list(query(1)).rollups).toEqual([]);
    expect(store.list(query(2)).rollups).toHaveLength(1);
    store.expire(nowMs + 8 * 24 * HOUR_MS);
    expect(store.bucketCount).toBe(0);
  });

  test('add the increase of a histogram between two points, not its totals', () => {
    const metrics = new MetricStore({ maxCount: 10_000, maxBytes: 64 * 1024 * 1024, retentionMs: HOUR_MS }, () => {});
    const rollups = new RollupStore(() => {});
    const data_points = [histogramPoint(0, [1, 0, 0], 1), histogramPoint(1_000, [1, 3, 0], 6)];
    for (const point of metrics.add(metricRecord({ name: 'h', metric_type: 'histogram', data_points }))) {
      if (point.kind === 'histogram') rollups.addHistogram(point.name, point.timeMs, point.counts, START_MS + 2_000);
    }
    expect(rollups.list(query(2)).histogram_rollups).toMatchObject([
      { name: 'h', total_count: 4, total_sum: 6, bucket_counts: [1, 3, 0], explicit_bounds: [1, 2] },
    ]);
  });

  test('[PD-46] put names over the limit into one called other, and leave out impossible times', () => {
    const dropped: string[] = [];
    const store = new RollupStore((reason) => dropped.push(reason));
    for (let at = 0; at < ROLLUP_NAMES_MAX + 10; at++) store.addNumber(`m${at}`, START_MS, 1, START_MS);
    expect(store.list({ ...query(2), name: 'other' }).rollups).toMatchObject([{ count: 10 }]);
    store.addNumber('m1', START_MS + HOUR_MS, 1, START_MS);
    store.addNumber('m1', START_MS - 8 * 24 * HOUR_MS, 1, START_MS);
    expect(dropped.filter((reason) => reason === 'time')).toHaveLength(2);
  });

  test('have a limit of numbers for histograms, and count points over it', () => {
    const drops: string[] = [];
    const store = new RollupStore((reason) => drops.push(reason), 10_000);
    const bounds = Array.from({ length: 999 }, (_, at) => at);
    const bucketCounts = [...bounds, 1];
    const counts = { count: 1, sum: 1, min: undefined, max: undefined, bucketCounts, explicitBounds: bounds };
    for (let name = 0; name < 5; name++) store.addHistogram(`name ${name}`, 0, counts, 0);
    // Three levels of 1 999 numbers each: one metric, and two levels of the next.
    expect(store.bucketCount).toBe(5);
    expect(new Set(drops)).toEqual(new Set(['limit']));
    expect(drops.length).toBe(10);
    // Known metrics are still counted, and make room when they are old.
    store.addHistogram('name 0', 0, counts, 0);
    expect(drops.length).toBe(10);
    const weekMs = 8 * 24 * 60 * 60_000;
    store.expire(weekMs);
    expect(store.bucketCount).toBe(0);
    store.addHistogram('later', weekMs, counts, weekMs);
    expect(store.bucketCount).toBe(3);
  });
});
