// Telemetry frames of workers, as records (wire 1.11).

import { expect, test } from 'vitest';
import type { TelemetryKind } from '../../../../../src/core/telemetry/records/intake.ts';
import { EngineInMemory } from '../../../../support/engine/engine-in-memory.ts';
import { Observed } from '../../../../support/telemetry/observed.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

function observedWorker() {
  const engine = new EngineInMemory();
  const observed = new Observed(engine);
  const worker = engine.connect();
  const send = (kind: TelemetryKind, body: unknown): void =>
    worker.sendBinary(kind + (typeof body === 'string' ? body : JSON.stringify(body)));
  const sendSpans = (...spans: unknown[]): void =>
    send('OTLP', requestOf('resourceSpans', 'scopeSpans', 'spans', spans));
  const sendLogs = (...logs: unknown[]): void =>
    send('LOGS', requestOf('resourceLogs', 'scopeLogs', 'logRecords', logs));
  const sendMetrics = (...metrics: unknown[]): void =>
    send('MTRC', requestOf('resourceMetrics', 'scopeMetrics', 'metrics', metrics));
  return { engine, observed, worker, send, sendSpans, sendLogs, sendMetrics };
}

function requestOf(resources: string, scopes: string, items: string, records: unknown[]): unknown {
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
  const scope = { name: 'iii-sdk', version: '0.22.0' };
  return { [resources]: [{ resource, [scopes]: [{ scope, [items]: records }] }] };
}

const FULL_SPAN = {
  traceId: TRACE,
  spanId: SPAN,
  parentSpanId: '0'.repeat(16),
  name: 'execute math::add',
  kind: 1,
  startTimeUnixNano: '1700000000000000000',
  endTimeUnixNano: 1_700_000_000_005_000_000,
  status: { code: 2, message: 'too much' },
  attributes: [
    { key: 'text', value: { stringValue: 'a' } },
    { key: 'number', value: { intValue: '42' } },
    { key: 'yes', value: { boolValue: true } },
    { key: 'list', value: { arrayValue: { values: [{ intValue: 1 }, { doubleValue: 1.5 }] } } },
    { key: 'map', value: { kvlistValue: { values: [{ key: 'k', value: { stringValue: 'v' } }] } } },
    { key: 'api_key', value: { stringValue: 'sesame' } },
  ],
  events: [{ name: 'exception', timeUnixNano: '1700000000001000000', attributes: [] }],
  links: [{ traceId: TRACE, spanId: '1'.repeat(16) }],
};

test('spans of calls come after those that workers send, so that a small store keeps them', () => {
  const { observed, worker, sendSpans } = observedWorker();
  worker.register('math::add');
  const call = worker.invoke('math::add', {});
  worker.result(worker.nextCall(), 3);
  expect(worker.answerTo(call)).toMatchObject({ result: 3 });
  sendSpans(FULL_SPAN);
  expect(observed.spans().map(({ name }) => name)).toEqual(['execute math::add', 'call math::add']);
});

test('[wire 1.11] a span of a worker is read with all its fields', () => {
  const { observed, sendSpans } = observedWorker();
  sendSpans(FULL_SPAN);
  expect(observed.span('execute math::add')).toEqual({
    trace_id: TRACE,
    span_id: SPAN,
    parent_span_id: null,
    name: 'execute math::add',
    start_time_unix_nano: 1_700_000_000_000_000_000,
    end_time_unix_nano: 1_700_000_000_005_000_000,
    status: 'error',
    status_description: 'too much',
    attributes: [
      ['text', 'a'],
      ['number', '42'],
      ['yes', 'true'],
      ['list', '[1,1.5]'],
      ['map', '{"k":"v"}'],
      ['api_key', '[redacted]'],
    ],
    service_name: 'shop',
    events: [{ name: 'exception', timestamp_unix_nano: 1_700_000_000_001_000_000, attributes: [] }],
    links: [{ trace_id: TRACE, span_id: '1'.repeat(16), attributes: [] }],
    instrumentation_scope_name: 'iii-sdk',
    instrumentation_scope_version: '0.22.0',
  });
});

test('[wire 1.11] a span without an end is pending until its end comes, or its worker is gone', () => {
  const { observed, worker, sendSpans } = observedWorker();
  sendSpans(
    { ...FULL_SPAN, endTimeUnixNano: '0' },
    { ...FULL_SPAN, spanId: '2'.repeat(16), name: 'lost', endTimeUnixNano: '0' },
  );
  expect(observed.span('lost').pending).toBe(true);
  sendSpans(FULL_SPAN);
  expect(observed.span('execute math::add')).not.toHaveProperty('pending');
  worker.drop();
  expect(observed.span('lost')).toMatchObject({ status: 'error', status_description: 'the worker is gone' });
  expect(observed.span('lost')).not.toHaveProperty('pending');
  expect(observed.span('execute math::add').status_description).toBe('too much');
});

test('[wire 1.11] a log record gets its level from its number, and its number from its level', () => {
  const { observed, sendLogs } = observedWorker();
  const log = { timeUnixNano: '5', body: { stringValue: 'hello' }, traceId: TRACE, spanId: SPAN };
  sendLogs(
    { ...log, severityNumber: 14, attributes: [{ key: 'log.data', value: { stringValue: '{}' } }] },
    {
      severityText: 'error',
      body: { stringValue: 'bad' },
      attributes: [{ key: 'password', value: { stringValue: 'p' } }],
    },
    { severityNumber: 24, body: { intValue: 3 } },
  );
  expect(observed.logs()).toMatchObject([
    {
      severity_number: 14,
      severity_text: 'WARN',
      body: 'hello',
      trace_id: TRACE,
      span_id: SPAN,
      timestamp_unix_nano: 5,
    },
    { severity_number: 17, severity_text: 'ERROR', trace_id: null, attributes: { password: '[redacted]' } },
    { severity_number: 24, severity_text: 'ERROR', body: '3', service_name: 'shop', timestamp_unix_nano: 0 },
  ]);
});

test('[wire 1.11] gauges, sums and histograms are read', () => {
  const { observed, sendMetrics } = observedWorker();
  const attributes = [{ key: 'worker.id', value: { stringValue: 'w1' } }];
  sendMetrics(
    { name: 'g', unit: 'ms', gauge: { dataPoints: [{ asDouble: 1.5, timeUnixNano: '7', attributes }] } },
    { name: 'c', sum: { isMonotonic: true, dataPoints: [{ asInt: '9', timeUnixNano: '7' }] } },
    { name: 'u', sum: { dataPoints: [{ asInt: 4, timeUnixNano: 8 }] } },
    {
      name: 'h',
      histogram: {
        dataPoints: [
          { count: '3', sum: 4, bucketCounts: ['1', '2'], explicitBounds: [1], min: 0.5, max: 2, timeUnixNano: 9 },
        ],
      },
    },
    { name: 'broken', histogram: { dataPoints: [{ count: 3, bucketCounts: [1], explicitBounds: [1, 2] }] } },
    { name: 'unknown', summary: { dataPoints: [] } },
  );
  const metrics = observed.metrics();
  expect(metrics).toMatchObject([
    { name: 'g', metric_type: 'gauge', data_points: [{ value: 1.5, attributes: [['worker.id', 'w1']] }] },
    { name: 'c', metric_type: 'counter', data_points: [{ value: 9 }] },
    { name: 'u', metric_type: 'updowncounter', data_points: [{ value: 4 }] },
    { name: 'h', metric_type: 'histogram', data_points: [{ count: 3, bucket_counts: [1, 2], explicit_bounds: [1] }] },
    { name: 'broken', data_points: [] },
  ]);
  expect(observed.drops).toEqual(['metrics malformed 2']);
});

test('[wire 1.11] unreadable data is counted, and the data next to it is kept', () => {
  const { observed, send, sendSpans } = observedWorker();
  send('OTLP', '{not json');
  send('LOGS', '[]');
  send('OTLP', { resourceSpans: 'none' });
  sendSpans({ ...FULL_SPAN, traceId: 'short' }, null, { ...FULL_SPAN, startTimeUnixNano: {} }, FULL_SPAN);
  expect(observed.spans()).toHaveLength(1);
  expect(observed.drops.sort()).toEqual(['logs unreadable 1', 'spans malformed 3', 'spans unreadable 1']);
});

test('[PD-46] a long attribute and a long list of attributes are cut, and the span is marked', () => {
  const { observed, sendSpans } = observedWorker();
  const attribute = (key: string, text: string) => ({ key, value: { stringValue: text } });
  sendSpans({ ...FULL_SPAN, attributes: [attribute('long', 'x'.repeat(10_000))] });
  expect(observed.attribute('execute math::add', 'long')).toHaveLength(4_096);
  expect(observed.attribute('execute math::add', 'svc.truncated')).toBe('true');
  sendSpans({ ...FULL_SPAN, attributes: Array.from({ length: 500 }, (_, number) => attribute(`k${number}`, 'v')) });
  expect(observed.span('execute math::add').attributes).toHaveLength(128);
});

test('[O1] frames over the limit of bytes are dropped and counted', () => {
  const { observed, send } = observedWorker();
  const large = `{"resourceSpans":[],"filler":"${'x'.repeat(7 * 1024 * 1024)}"}`;
  for (let count = 0; count < 3; count++) send('OTLP', large);
  expect(observed.drops).toEqual(['spans buffer_full']);
});

test('[O1] empty frames are bounded too while the telemetry thread accepts nothing', () => {
  const { observed, send } = observedWorker();
  observed.isFull = true;
  for (let count = 0; count < 70_000; count++) send('OTLP', '');
  expect(observed.drops.length).toBeGreaterThan(0);
  expect(new Set(observed.drops)).toEqual(new Set(['spans buffer_full']));
});

test('a nested attribute is cut at a limited depth', () => {
  const { observed, send } = observedWorker();
  const value = `${'{"arrayValue":{"values":['.repeat(5_000)}{"stringValue":"x"}${']}}'.repeat(5_000)}`;
  const marked = { ...FULL_SPAN, attributes: [{ key: 'deep', value: 'PLACE' }] };
  send('OTLP', JSON.stringify(requestOf('resourceSpans', 'scopeSpans', 'spans', [marked])).replace('"PLACE"', value));
  expect(observed.attribute('execute math::add', 'deep')).toContain('[too deep]');
});
