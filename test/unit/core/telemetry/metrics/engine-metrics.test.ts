import { describe, expect, test } from 'vitest';
import { CallStats } from '../../../../../src/core/telemetry/metrics/call-stats.ts';
import { percentileOfBuckets } from '../../../../../src/core/telemetry/metrics/durations.ts';
import { EngineMetrics } from '../../../../../src/core/telemetry/metrics/engine-metrics.ts';
import type { MetricRecord } from '../../../../../src/core/telemetry/records/records.ts';
import { START_NANO } from '../../../../support/telemetry/telemetry-records.ts';

const GAUGES = { workersActive: 2 };

function metricsOf(feed: (stats: CallStats) => void): EngineMetrics {
  const metrics = new EngineMetrics();
  const stats = new CallStats();
  feed(stats);
  metrics.add(stats.take(), { spawns: 3, deaths: 1 });
  return metrics;
}

function byName(records: readonly MetricRecord[]): Record<string, MetricRecord> {
  return Object.fromEntries(records.map((record) => [record.name, record]));
}

describe('metrics of the engine', () => {
  test('[modules 11.6] count calls by function and outcome, errors by code, and durations in seconds', () => {
    const metrics = metricsOf((stats) => {
      stats.ended('orders::create', 20, undefined);
      stats.ended('orders::create', 40, 'E_STOCK');
      stats.deferred('orders::create');
    });
    const records = byName(metrics.records(GAUGES, 'svc', START_NANO));
    expect(records['svc.invocations.total']).toMatchObject({
      metric_type: 'counter',
      data_points: [
        {
          value: 1,
          attributes: [
            ['function_id', 'orders::create'],
            ['status', 'ok'],
          ],
        },
        {
          value: 1,
          attributes: [
            ['function_id', 'orders::create'],
            ['status', 'error'],
          ],
        },
        {
          value: 1,
          attributes: [
            ['function_id', 'orders::create'],
            ['status', 'deferred'],
          ],
        },
      ],
    });
    expect(records['svc.invocation.errors.total']?.data_points).toMatchObject([
      {
        value: 1,
        attributes: [
          ['function_id', 'orders::create'],
          ['error_code', 'E_STOCK'],
        ],
      },
    ]);
    expect(records['svc.invocation.duration']).toMatchObject({
      unit: 's',
      data_points: [
        { count: 1, sum: 0.02 },
        { count: 1, sum: 0.04 },
      ],
    });
    expect(records['svc.workers.spawns.total']?.data_points).toMatchObject([{ value: 3 }]);
    expect(records['svc.workers.active']?.data_points).toMatchObject([{ value: 2 }]);
  });

  test('[modules 11.6] add later counts to earlier ones', () => {
    const metrics = metricsOf((stats) => stats.ended('a', 1, undefined));
    const more = new CallStats();
    more.ended('a', 3, undefined);
    metrics.add(more.take(), { spawns: 0, deaths: 0 });
    expect(metrics.functionTotals(false)).toMatchObject([{ function_id: 'a', ok: 2, error: 0, deferred: 0 }]);
    const duration = byName(metrics.records(GAUGES, 'svc', START_NANO))['svc.invocation.duration'];
    expect(duration?.data_points).toMatchObject([{ count: 2, min: 0.001, max: 0.003 }]);
  });

  test('have percentiles in the bucket of their rank, never above the largest value', () => {
    const metrics = metricsOf((stats) => {
      for (let call = 0; call < 99; call += 1) stats.ended('a', 8, undefined);
      stats.ended('a', 700, undefined);
    });
    const [totals] = metrics.functionTotals(false);
    expect(totals?.p50_duration_ms).toBeGreaterThan(5);
    expect(totals?.p95_duration_ms).toBeLessThanOrEqual(10);
    expect(percentileOfBuckets([0, 1], 0.4, 1)).toBe(0.4);
    expect(percentileOfBuckets([], 0, 0.5)).toBeNull();
  });
});

test('A function has 50 error codes, and one for all others', () => {
  const stats = new CallStats();
  const metrics = new EngineMetrics();
  for (let batch = 0; batch < 100; batch++) {
    for (let code = 0; code < 20; code++) stats.ended('f', 1, `E_${batch}_${code}_${'x'.repeat(1_000)}`);
    metrics.add(stats.take(), { spawns: 0, deaths: 0 });
  }
  const [totals] = metrics.functionTotals(false);
  const codes = Object.keys(totals?.errors ?? {});
  expect(codes.length).toBe(51);
  expect(Math.max(...codes.map((code) => code.length))).toBeLessThanOrEqual(128);
  expect(Object.values(totals?.errors ?? {}).reduce((sum, count) => sum + count, 0)).toBe(2_000);
});
