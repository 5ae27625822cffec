import { describe, expect, test } from 'vitest';
import { Aggregate } from '../../../../../src/core/telemetry/metrics/aggregate.ts';
import { EngineCounters } from '../../../../../src/core/telemetry/metrics/engine-counters.ts';
import { listMetrics, windowValue } from '../../../../../src/core/telemetry/metrics/metric-list.ts';
import { LABEL_SETS_MAX, MetricStore } from '../../../../../src/core/telemetry/metrics/metric-store.ts';
import { ROLLUP_NAMES_MAX, RollupStore } from '../../../../../src/core/telemetry/metrics/rollup.ts';
import { DURATION_BOUNDS_MS } from '../../../../../src/core/telemetry/records/intake.ts';
import type { HistogramPoint, MetricRecord } from '../../../../../src/core/telemetry/records/records.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';
import { metricRecord, START_NANO } from '../../../../support/telemetry/telemetry-records.ts';

const MIB = 1024 * 1024;
const START_MS = START_NANO / 1e6;
const ALL = { name: undefined, startTime: undefined, endTime: undefined };

function newStore(limits: { maxCount?: number; retentionMs?: number } = {}) {
  const dropped: string[] = [];
  const whole = { maxCount: 10_000, maxBytes: 64 * MIB, retentionMs: 3_600_000, ...limits };
  return { dropped, store: new MetricStore(whole, (reason, count) => dropped.push(`${reason} ${count}`)) };
}

function numbers(
  name: string,
  points: readonly (readonly [ms: number, value: number])[],
  parts: Partial<MetricRecord> = {},
) {
  const data_points = points.map(([ms, value]) => ({
    ...{ value, attributes: [], timestamp_unix_nano: START_NANO + ms * 1e6 },
  }));
  return metricRecord({ name, data_points, ...parts });
}

function histogramPoint(ms: number, counts: readonly number[], sum: number): HistogramPoint {
  return {
    ...{
      count: counts.reduce((total, count) => total + count, 0),
      sum,
      bucket_counts: counts,
      explicit_bounds: [1, 2],
    },
    ...{ attributes: [], timestamp_unix_nano: START_NANO + ms * 1e6 },
  };
}

describe('a store of metrics', () => {
  test('[PD-46] A flood of labels ends in one label set called other', () => {
    const { store, dropped } = newStore({ maxCount: 100_000 });
    for (let at = 0; at < LABEL_SETS_MAX + 500; at++) {
      const point = { value: 1, attributes: [['id', `${at}`]] as const, timestamp_unix_nano: START_NANO };
      store.add(metricRecord({ name: 'm', data_points: [point] }));
    }
    expect(store.seriesCount).toBe(LABEL_SETS_MAX + 1);
    expect(dropped).toHaveLength(500);
    const [metric] = listMetrics(store, ALL);
    expect(metric?.data_points.at(-1)?.attributes).toEqual([['other', 'true']]);
  });

  test('[O1] keeps to its count and its age, and forgets labels with their points', () => {
    const { store } = newStore({ maxCount: 3, retentionMs: 1_000 });
    for (let at = 0; at < 5; at++) store.add(numbers(`m${at}`, [[at, 1]]));
    expect(listMetrics(store, ALL).map(({ name }) => name)).toEqual(['m2', 'm3', 'm4']);
    expect(store.seriesCount).toBe(3);
    store.expire(START_MS + 2_000);
    expect([store.count, store.bytes, store.seriesCount]).toEqual([0, 0, 0]);
  });
});

describe('what an alert compares', () => {
  const value = (metric: MetricRecord, fromMs: number, toMs = 100_000) => {
    const { store } = newStore();
    store.add(metric);
    return windowValue(store, metric.name, START_MS + fromMs, START_MS + toMs);
  };

  test('of a counter is what it rose by within the window, over restarts of its worker', () => {
    expect(
      value(
        numbers('c', [
          [0, 10],
          [20_000, 14],
          [30_000, 15],
        ]),
        10_000,
      ),
    ).toBe(5);
    expect(value(numbers('c', [[20_000, 14]]), 10_000)).toBe(14);
    expect(
      value(
        numbers('c', [
          [0, 10],
          [20_000, 2],
          [30_000, 5],
        ]),
        10_000,
      ),
    ).toBe(5);
    expect(
      value(
        numbers(
          'c',
          [
            [20_000, 2],
            [30_000, 5],
          ],
          { is_delta: true },
        ),
        10_000,
      ),
    ).toBe(7);
  });

  test('of a counter that an engine meets late is what it rose by since, not all that was counted before', () => {
    const met = (sinceMs: number, ...values: readonly (readonly [number, number])[]) => {
      const start_time_unix_nano = (START_MS + sinceMs) * 1e6;
      const { data_points: points, ...metric } = numbers('c', [...values]);
      return { ...metric, data_points: points.map((point) => ({ ...point, start_time_unix_nano })) };
    };
    expect(value(met(-50_000, [20_000, 1_000], [30_000, 1_003]), 10_000)).toBe(3);
    expect(value(met(-50_000, [20_000, 1_000]), 10_000)).toBe(0);
    expect(value(met(15_000, [20_000, 4], [30_000, 6]), 10_000)).toBe(6);
  });

  test('of a gauge is its average, of a histogram the mean of what it saw, of nothing nothing', () => {
    expect(
      value(
        numbers(
          'g',
          [
            [0, 100],
            [20_000, 2],
            [30_000, 4],
          ],
          { metric_type: 'gauge' },
        ),
        10_000,
      ),
    ).toBe(3);
    const data_points = [histogramPoint(0, [1, 0, 0], 1), histogramPoint(20_000, [1, 0, 2], 11)];
    expect(value(metricRecord({ name: 'h', metric_type: 'histogram', data_points }), 10_000)).toBe(5);
    expect(value(numbers('g', [[0, 1]]), 10_000)).toBeUndefined();
  });

  test('of the engine is the difference over the window, not the total since the start', () => {
    const counters = new EngineCounters();
    const nothing = { count: 0, sum: 0, min: 0, max: 0, buckets: DURATION_BOUNDS_MS.map(() => 0) };
    const failed = (times: number) => [
      { functionId: 'f', ok: 0, error: times, deferred: 0, errors: {}, okDurations: nothing, errorDurations: nothing },
    ];
    const workers = { spawns: 0, deaths: 0 };
    counters.add(failed(3), workers, 1_000);
    counters.add(failed(2), workers, 100_000);
    expect(counters.windowValue('iii.invocations.error', 50_000)).toBe(2);
    expect(counters.windowValue('iii.invocations.error', 500)).toBe(5);
    expect(counters.windowValue('iii.invocations.error', 150_000)).toBe(0);
    expect(counters.windowValue('shop.orders', 0)).toBeUndefined();
  });

  test('of the engine looks back a day, whichever rules there were when the engine started', () => {
    const counters = new EngineCounters();
    const workers = { spawns: 1, deaths: 0 };
    const dayS = 86_400;
    for (let atS = 1; atS <= dayS; atS += 10) counters.add([], workers, atS * 1_000);
    const times = Math.ceil(dayS / 10);
    expect(counters.windowValue('iii.workers.spawns', 0)).toBe(times);
    // Long ago it is known to within a minute.
    expect(Math.abs((counters.windowValue('iii.workers.spawns', (dayS / 2) * 1_000) ?? 0) - times / 2)).toBeLessThan(8);
  });
});

describe('aggregates', () => {
  test('of few values are exact, of many within a thousandth of the range of each', () => {
    forEachSeed(20, (random) => {
      const scale = 10 ** ((random.bits() % 12) - 4);
      const values = Array.from({ length: 1 + (random.bits() % 2_000) }, () => (random.bits() % 100_000) * scale);
      const aggregate = new Aggregate();
      for (const value of values) aggregate.add(value);
      const sorted = Float64Array.from(values).sort();
      const row = aggregate.row('m', 0, 1);
      expect(row).toMatchObject({ count: values.length, min: sorted[0], max: sorted.at(-1) });
      const p50 = row.percentiles?.p50 ?? Number.NaN;
      const below = values.filter((value) => value < p50 * 0.998).length;
      const above = values.filter((value) => value > p50 * 1.002).length;
      expect(below).toBeLessThanOrEqual(values.length / 2 + 1);
      expect(above).toBeLessThanOrEqual(values.length / 2 + 1);
    });
  });

  test('say after they are over what they said before', () => {
    const aggregate = new Aggregate();
    for (let value = 1; value <= 1_000; value++) aggregate.add(value);
    const before = aggregate.row('m', 0, 1);
    aggregate.freeze();
    expect(aggregate.row('m', 0, 1)).toEqual(before);
    const negative = new Aggregate();
    for (let value = -500; value <= 500; value++) negative.add(value);
    expect(negative.row('m', 0, 1).percentiles).toBeUndefined();
  });
});

describe('rollups', () => {
  const HOUR_MS = 3_600_000;
  const query = (level: 0 | 1 | 2) => ({ level, startTime: 0, endTime: 1e15, name: undefined });

  test('count each value once in each level, and keep each level for its time', () => {
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

  test('add what histograms counted in between, not their totals', () => {
    const { store: metrics } = newStore();
    const rollups = new RollupStore(() => {});
    const data_points = [histogramPoint(0, [1, 0, 0], 1), histogramPoint(1_000, [1, 3, 0], 6)];
    for (const point of metrics.add(metricRecord({ name: 'h', metric_type: 'histogram', data_points }))) {
      if (point.kind === 'histogram') rollups.addHistogram(point.name, point.timeMs, point.counts, START_MS + 2_000);
    }
    expect(rollups.list(query(2)).histogram_rollups).toMatchObject([
      { name: 'h', total_count: 4, total_sum: 6, bucket_counts: [1, 3, 0], explicit_bounds: [1, 2] },
    ]);
  });

  test('[PD-46] know so many names, and call the rest other; times that cannot be are left out', () => {
    const dropped: string[] = [];
    const store = new RollupStore((reason) => dropped.push(reason));
    for (let at = 0; at < ROLLUP_NAMES_MAX + 10; at++) store.addNumber(`m${at}`, START_MS, 1, START_MS);
    expect(store.list({ ...query(2), name: 'other' }).rollups).toMatchObject([{ count: 10 }]);
    store.addNumber('m1', START_MS + HOUR_MS, 1, START_MS);
    store.addNumber('m1', START_MS - 8 * 24 * HOUR_MS, 1, START_MS);
    expect(dropped.filter((reason) => reason === 'time')).toHaveLength(2);
  });
});
