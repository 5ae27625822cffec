// Records of telemetry for tests, with defaults for every field.

import type {
  HistogramPoint,
  LogRecord,
  MetricRecord,
  SpanRecord,
} from '../../../src/core/telemetry/records/records.ts';

export const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
/** 2026-01-02T03:04:05Z. */
export const START_NANO = 1_767_323_045_000_000_000;

export function spanRecord(parts: Partial<SpanRecord> = {}): SpanRecord {
  return {
    trace_id: TRACE_ID,
    span_id: '00f067aa0ba902b7',
    parent_span_id: null,
    name: 'call orders::create',
    start_time_unix_nano: START_NANO,
    end_time_unix_nano: START_NANO + 12_000_000,
    status: 'ok',
    attributes: [],
    service_name: 'orders',
    events: [],
    links: [],
    ...parts,
  };
}

export function logRecord(parts: Partial<LogRecord> = {}): LogRecord {
  return {
    timestamp_unix_nano: START_NANO,
    observed_timestamp_unix_nano: START_NANO + 1_000,
    severity_number: 9,
    severity_text: 'INFO',
    body: 'an order was made',
    attributes: {},
    trace_id: null,
    span_id: null,
    resource: {},
    service_name: 'orders',
    ...parts,
  };
}

export function metricRecord(parts: Partial<MetricRecord> = {}): MetricRecord {
  return {
    name: 'svc.invocations.total',
    description: 'Calls',
    unit: '1',
    metric_type: 'counter',
    data_points: [{ value: 3, attributes: [['status', 'ok']], timestamp_unix_nano: START_NANO }],
    service_name: 'svc',
    timestamp_unix_nano: START_NANO,
    ...parts,
  };
}

/** A point of a histogram with the bounds 1 and 2, so many milliseconds after the start. */
export function histogramPoint(ms: number, counts: readonly number[], sum: number): HistogramPoint {
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
