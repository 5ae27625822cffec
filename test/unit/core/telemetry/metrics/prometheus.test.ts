import { describe, expect, test } from 'vitest';
import { prometheusText } from '../../../../../src/core/telemetry/metrics/prometheus.ts';
import { parsePrometheus } from '../../../../support/telemetry/prometheus-text.ts';
import { metricRecord, START_NANO } from '../../../../support/telemetry/telemetry-records.ts';

const point = { attributes: [], timestamp_unix_nano: START_NANO };

describe('the Prometheus text', () => {
  test('[PD-45] has names with the prefix svc and underscores, and _total at the end of a counter', () => {
    const text = prometheusText([
      metricRecord(),
      metricRecord({ name: 'orders.made' }),
      metricRecord({ name: 'svc.workers.active', metric_type: 'gauge', data_points: [{ value: 2, ...point }] }),
    ]);
    const families = parsePrometheus(text);
    expect([...families.keys()]).toEqual(['orders_made_total', 'svc_invocations_total', 'svc_workers_active']);
    expect(families.get('svc_workers_active')).toMatchObject({
      type: 'gauge',
      samples: [{ labels: { service_name: 'svc' }, value: 2 }],
    });
  });

  test('has cumulative buckets of a histogram', () => {
    const histogram = { count: 6, sum: 7.5, bucket_counts: [1, 2, 3], explicit_bounds: [0.5, 1], ...point };
    const text = prometheusText([
      metricRecord({ name: 'svc.invocation.duration', metric_type: 'histogram', data_points: [histogram] }),
    ]);
    const samples = parsePrometheus(text).get('svc_invocation_duration')?.samples;
    expect(samples?.map(({ name, labels, value }) => [name, labels.le, value])).toEqual([
      ['svc_invocation_duration_bucket', '0.5', 1],
      ['svc_invocation_duration_bucket', '1', 3],
      ['svc_invocation_duration_bucket', '+Inf', 6],
      ['svc_invocation_duration_sum', undefined, 7.5],
      ['svc_invocation_duration_count', undefined, 6],
    ]);
  });

  test('escapes names, labels and descriptions of workers', () => {
    const hostile = 'a"b\\c\nd{e}=,# TYPE x counter';
    const text = prometheusText([
      metricRecord({
        name: '9 bad-näme',
        description: hostile,
        data_points: [
          {
            value: Number.POSITIVE_INFINITY,
            attributes: [
              ['le', hostile],
              ['__name__', 'x'],
              ['', 'empty'],
              ['a.b', 'first'],
              ['a-b', 'second'],
            ],
            timestamp_unix_nano: START_NANO,
          },
        ],
      }),
    ]);
    const [family] = parsePrometheus(text).values();
    expect(family?.name).toBe('_9_bad_n_me_total');
    expect(family?.samples).toEqual([
      {
        name: '_9_bad_n_me_total',
        labels: { _: 'empty', a_b: 'second', label___name__: 'x', label_le: hostile, service_name: 'svc' },
        value: Infinity,
      },
    ]);
  });

  test('has the newest of several points with equal labels', () => {
    const later = { value: 9, attributes: [], timestamp_unix_nano: START_NANO + 1e9 };
    const text = prometheusText([metricRecord({ data_points: [later, { value: 4, ...point }] })]);
    expect(parsePrometheus(text).get('svc_invocations_total')?.samples).toMatchObject([{ value: 9 }]);
  });

  test('has the first type of a name with two types', () => {
    const text = prometheusText([
      metricRecord({ name: 'x_total' }),
      metricRecord({ name: 'x_total', metric_type: 'gauge', service_name: 'other' }),
    ]);
    expect(parsePrometheus(text).get('x_total')).toMatchObject({ type: 'counter', samples: [{}] });
  });
});
