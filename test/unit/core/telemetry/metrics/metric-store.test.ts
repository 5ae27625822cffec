import { describe, expect, test } from 'vitest';
import { EngineCounters } from '../../../../../src/core/telemetry/metrics/engine-counters.ts';
import { listMetrics, windowPart } from '../../../../../src/core/telemetry/metrics/metric-list.ts';
import { LABEL_SETS_MAX, MetricStore } from '../../../../../src/core/telemetry/metrics/metric-store.ts';
import { valueOfParts } from '../../../../../src/core/telemetry/metrics/window-part.ts';
import { DURATION_BOUNDS_MS } from '../../../../../src/core/telemetry/records/intake.ts';
import type { MetricRecord } from '../../../../../src/core/telemetry/records/records.ts';
import { histogramPoint, metricRecord, START_NANO } from '../../../../support/telemetry/telemetry-records.ts';

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

describe('a store of metrics', () => {
  test('[PD-46] puts label sets over the limit into one called other', () => {
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

  test('[O1] keeps its limits of count and age, and drops label sets without points', () => {
    const { store } = newStore({ maxCount: 3, retentionMs: 1_000 });
    for (let at = 0; at < 5; at++) store.add(numbers(`m${at}`, [[at, 1]]));
    expect(listMetrics(store, ALL).map(({ name }) => name)).toEqual(['m2', 'm3', 'm4']);
    expect(store.seriesCount).toBe(3);
    store.expire(START_MS + 2_000);
    expect([store.count, store.bytes, store.seriesCount]).toEqual([0, 0, 0]);
  });
});

describe('the value that an alert compares', () => {
  const value = (metric: MetricRecord, fromMs: number, toMs = 100_000) => {
    const { store } = newStore();
    store.add(metric);
    const part = windowPart(store, metric.name, START_MS + fromMs, START_MS + toMs);
    return valueOfParts(part === undefined ? [] : [part]);
  };

  test('is the increase of a counter within the window, across restarts of its worker', () => {
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

  test('does not include what a counter counted before the engine first saw it', () => {
    const met = (sinceMs: number, ...values: readonly (readonly [number, number])[]) => {
      const start_time_unix_nano = (START_MS + sinceMs) * 1e6;
      const { data_points: points, ...metric } = numbers('c', [...values]);
      return { ...metric, data_points: points.map((point) => ({ ...point, start_time_unix_nano })) };
    };
    expect(value(met(-50_000, [20_000, 1_000], [30_000, 1_003]), 10_000)).toBe(3);
    expect(value(met(-50_000, [20_000, 1_000]), 10_000)).toBe(0);
    expect(value(met(15_000, [20_000, 4], [30_000, 6]), 10_000)).toBe(6);
  });

  test('is the average of a gauge, the mean of a histogram, and absent without points', () => {
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

  test('is the increase of an engine counter within the window, not the total since the start', () => {
    const counters = new EngineCounters();
    const nothing = { count: 0, sum: 0, min: 0, max: 0, buckets: DURATION_BOUNDS_MS.map(() => 0) };
    const failed = (times: number) => [
      { functionId: 'f', ok: 0, error: times, deferred: 0, errors: {}, okDurations: nothing, errorDurations: nothing },
    ];
    const workers = { spawns: 0, deaths: 0 };
    counters.add(failed(3), workers, 1_000);
    counters.add(failed(2), workers, 100_000);
    expect(counters.windowPart('svc.invocations.error', 50_000)?.sum).toBe(2);
    expect(counters.windowPart('svc.invocations.error', 500)?.sum).toBe(5);
    expect(counters.windowPart('svc.invocations.error', 150_000)?.sum).toBe(0);
    expect(counters.windowPart('shop.orders', 0)).toBeUndefined();
  });

  test('of an engine counter covers a day, whichever rules existed at the start', () => {
    const counters = new EngineCounters();
    const workers = { spawns: 1, deaths: 0 };
    const dayS = 86_400;
    for (let atS = 1; atS <= dayS; atS += 10) counters.add([], workers, atS * 1_000);
    const times = Math.ceil(dayS / 10);
    expect(counters.windowPart('svc.workers.spawns', 0)?.sum).toBe(times);
    // Long ago it is known to within a minute.
    expect(
      Math.abs((counters.windowPart('svc.workers.spawns', (dayS / 2) * 1_000)?.sum ?? 0) - times / 2),
    ).toBeLessThan(8);
  });
});
