// Exports to a collector over real sockets, decoded with the official protobuf definitions.

import { describe, expect, test } from 'vitest';
import type { OtlpProtocol } from '../../../src/core/telemetry/records/settings.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import { type ExporterOptions, TelemetryExporter } from '../../../src/telemetry/export/exporter.ts';
import { type OtlpReceiver, plainAttributes, startOtlpReceiver } from '../../support/telemetry/otlp-receiver.ts';
import {
  logRecord,
  metricRecord,
  START_NANO,
  spanRecord,
  TRACE_ID,
} from '../../support/telemetry/telemetry-records.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Started extends AsyncDisposable {
  readonly exporter: TelemetryExporter;
  readonly dropped: Map<string, number>;
  readonly changes: string[];
}

async function startExporter(protocol: OtlpProtocol, url: string, timeoutMs = 10_000): Promise<Started> {
  const dropped = new Map<string, number>();
  const changes: string[] = [];
  const target = (signal: string) => ({
    protocol,
    url: protocol === 'grpc' ? url : `${url}/v1/${signal}`,
    headers: { 'x-tenant': 'a b,c' },
    timeoutMs,
  });
  const options: ExporterOptions = {
    traces: target('traces'),
    logs: { ...target('logs'), batch: 100, intervalMs: 20 },
    metrics: { ...target('metrics'), intervalMs: 500 },
    resource: { 'service.namespace': 'shop', 'service.version': '1.2.3' },
  };
  const exporter = await TelemetryExporter.create(options, {
    clock: systemClock,
    engineMetrics: () => [metricRecord({ name: 'svc.workers.spawns.total' })],
    reports: {
      dropped: (signal, reason, count) =>
        dropped.set(`${signal} ${reason}`, (dropped.get(`${signal} ${reason}`) ?? 0) + count),
      changed: ({ signal, address, state }) => changes.push(`${signal} ${state} ${address}`),
    },
  });
  return { exporter, dropped, changes, [Symbol.asyncDispose]: () => exporter.stop(0) };
}

function manySpans(count: number) {
  return Array.from({ length: count }, (_, index) => spanRecord({ span_id: index.toString(16).padStart(16, '0') }));
}

describe.each(['grpc', 'http/protobuf'] as const)('export by OTLP over %s', (protocol) => {
  test('a span arrives with all its fields', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    await using started = await startExporter(protocol, receiver.url);
    started.exporter.addSpans([
      spanRecord({
        parent_span_id: 'aaaaaaaaaaaaaaaa',
        status: 'error',
        status_description: 'declined',
        attributes: [['function_id', 'orders::create']],
        events: [
          { name: 'exception', timestamp_unix_nano: START_NANO + 5_000_000, attributes: [['exception.type', 'E']] },
        ],
        links: [{ trace_id: TRACE_ID, span_id: 'bbbbbbbbbbbbbbbb', attributes: [['why', 'retry']] }],
        instrumentation_scope_name: 'svc',
        instrumentation_scope_version: '0.1.0',
        trace_state: 'a=1',
      }),
    ]);
    await waitFor('the span has arrived', () => receiver.spans.length === 1);
    const [span] = receiver.spans;
    expect(span).toMatchObject({
      traceId: TRACE_ID,
      spanId: '00f067aa0ba902b7',
      parentSpanId: 'aaaaaaaaaaaaaaaa',
      name: 'call orders::create',
      kind: 3,
      startTimeUnixNano: '1767323045000000000',
      endTimeUnixNano: '1767323045012000000',
      traceState: 'a=1',
      status: { code: 2, message: 'declined' },
      service: 'orders',
      scope: { name: 'svc', version: '0.1.0' },
      events: [{ name: 'exception', timeUnixNano: '1767323045005000000' }],
      links: [{ traceId: TRACE_ID, spanId: 'bbbbbbbbbbbbbbbb' }],
    });
    expect(plainAttributes(span?.attributes ?? [])).toEqual({ function_id: 'orders::create' });
    expect(receiver.resources).toEqual([
      { 'service.name': 'orders', 'service.namespace': 'shop', 'service.version': '1.2.3' },
    ]);
    expect(receiver.headers[0]).toMatchObject({ 'x-tenant': 'a b,c' });
  });

  test('a log arrives with its trace, its severity and nested attributes', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    await using started = await startExporter(protocol, receiver.url);
    started.exporter.addLogs([
      logRecord({
        severity_number: 13,
        severity_text: 'WARN',
        attributes: { order: { id: 7, paid: true }, tags: ['a'], nothing: null },
        trace_id: TRACE_ID,
        span_id: '00f067aa0ba902b7',
      }),
      logRecord({ body: 'without a trace' }),
    ]);
    await waitFor('the logs have arrived', () => receiver.logs.length === 2);
    const [log, plain] = receiver.logs;
    expect(log).toMatchObject({
      timeUnixNano: '1767323045000000000',
      severityNumber: 13,
      severityText: 'WARN',
      body: { stringValue: 'an order was made' },
      traceId: TRACE_ID,
      spanId: '00f067aa0ba902b7',
      service: 'orders',
    });
    expect(JSON.stringify(log?.attributes)).toContain('"order"');
    expect(plain).toMatchObject({ body: { stringValue: 'without a trace' }, traceId: '', spanId: '' });
  });

  test('counters, gauges and histograms arrive with their types', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    await using started = await startExporter(protocol, receiver.url);
    const point = { attributes: [], timestamp_unix_nano: START_NANO };
    started.exporter.addMetrics([
      metricRecord(),
      metricRecord({ name: 'svc.workers.active', metric_type: 'gauge', data_points: [{ value: 2, ...point }] }),
      metricRecord({
        name: 'worker.orders',
        data_points: [{ value: 7, ...point, start_time_unix_nano: START_NANO - 60e9 }],
      }),
      metricRecord({
        name: 'svc.invocation.duration',
        unit: 's',
        metric_type: 'histogram',
        data_points: [{ count: 3, sum: 6, bucket_counts: [1, 2], explicit_bounds: [1], min: 0.5, max: 4, ...point }],
        service_name: 'billing',
      }),
      metricRecord({ name: 'worker.delta', is_delta: true }),
    ]);
    await waitFor('the metrics have arrived', () => receiver.metrics.some(({ service }) => service === 'billing'));
    const byName = Object.fromEntries(receiver.metrics.map((metric) => [metric.name, metric]));
    expect(byName['svc.invocations.total']).toMatchObject({
      sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints: [{ asDouble: 3 }] },
      service: 'svc',
    });
    const since = String(BigInt(START_NANO) - 60_000_000_000n);
    expect(byName['worker.orders']).toMatchObject({ sum: { dataPoints: [{ startTimeUnixNano: since }] } });
    expect(byName['worker.delta']).toMatchObject({ sum: { aggregationTemporality: 1 } });
    expect(byName['svc.workers.active']).toMatchObject({ gauge: { dataPoints: [{ asDouble: 2 }] } });
    expect(byName['svc.invocation.duration']).toMatchObject({
      unit: 's',
      service: 'billing',
      histogram: {
        dataPoints: [{ count: '3', sum: 6, bucketCounts: ['1', '2'], explicitBounds: [1], min: 0.5, max: 4 }],
      },
    });
  });

  test('[modules 11.6] metrics of the engine are sent at each interval, and once more at the end', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    const { exporter } = await startExporter(protocol, receiver.url);
    const counts = () => receiver.metrics.filter(({ name }) => name === 'svc.workers.spawns.total').length;
    await waitFor('two intervals have passed', () => counts() >= 2);
    const before = counts();
    await exporter.stop(2_000);
    expect(counts()).toBeGreaterThan(before);
  });

  test('[O2] batches hold at most 512 spans', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    await using started = await startExporter(protocol, receiver.url);
    started.exporter.addSpans(manySpans(1_200));
    await waitFor('all spans have arrived', () => receiver.spans.length === 1_200);
    // Batches of metrics arrive in between.
    const ofSpans = receiver.batches.filter(({ path }) => /trace/i.test(path));
    expect(ofSpans.map(({ records }) => records)).toEqual([512, 512, 176]);
    expect(started.dropped).toEqual(new Map());
  });

  test('[O1] unfinished spans are not sent', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    await using started = await startExporter(protocol, receiver.url);
    started.exporter.addSpans([spanRecord({ pending: true, end_time_unix_nano: 0 }), spanRecord({ name: 'ended' })]);
    await waitFor('the ended span has arrived', () => receiver.spans.length > 0);
    expect(receiver.spans.map(({ name }) => name)).toEqual(['ended']);
  });

  test('[O2] records for a collector that does not answer fill the queue, and those over its limit are counted', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    receiver.behave({ kind: 'hold' });
    await using started = await startExporter(protocol, receiver.url, 1_000);
    started.exporter.addSpans(manySpans(3_000));
    started.exporter.addLogs(Array.from({ length: 5_000 }, () => logRecord()));
    expect(started.dropped).toEqual(
      new Map([
        ['spans export_queue_full', 952],
        ['logs export_queue_full', 904],
      ]),
    );
    expect(started.exporter.states()).toMatchObject({
      spans: { state: 'dropping', waiting: 2_048 },
      logs: { state: 'dropping', waiting: 4_096 },
    });
    receiver.behave({ kind: 'take' });
    await waitFor(
      'the kept records arrive',
      () => receiver.spans.length >= 2_048 && receiver.logs.length >= 4_096,
      20_000,
    );
    await waitFor('the state is working', () => started.exporter.states().spans?.state === 'working', 20_000);
    const changesOfSpans = started.changes.filter((change) => change.startsWith('spans'));
    expect(changesOfSpans.map((change) => change.split(' ')[1])).toEqual(['dropping', 'working']);
  }, 40_000);

  test('[O2] export to a dead collector is repeated until it answers, and each change is reported once', async () => {
    const gone = await startOtlpReceiver(protocol);
    const { port, url } = gone;
    await gone[Symbol.asyncDispose]();
    await using started = await startExporter(protocol, url, 300);
    // Metrics of the engine are exported too, and fail separately.
    const statesOfSpans = () =>
      started.changes.filter((change) => change.startsWith('spans')).map((change) => change.split(' ')[1]);
    started.exporter.addSpans([spanRecord()]);
    await waitFor('the failure is reported', () => statesOfSpans().length === 1, 20_000);
    expect(started.exporter.states()).toMatchObject({ spans: { state: 'failing', waiting: 1 } });
    await using receiver: OtlpReceiver = await startOtlpReceiver(protocol, port);
    await waitFor('the span arrives', () => receiver.spans.length === 1, 20_000);
    await waitFor('the recovery is reported', () => statesOfSpans().length === 2, 20_000);
    expect(statesOfSpans()).toEqual(['failing', 'working']);
    expect(started.dropped).toEqual(new Map());
  });

  test('[O2] records that a collector rejects are dropped and counted', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    receiver.behave({ kind: 'refuse', status: protocol === 'grpc' ? 3 : 400 });
    await using started = await startExporter(protocol, receiver.url);
    started.exporter.addSpans([spanRecord()]);
    await waitFor('the span is dropped', () => started.dropped.size > 0);
    expect(started.dropped).toEqual(new Map([['spans export_rejected', 1]]));
    expect(started.exporter.states()).toMatchObject({ spans: { state: 'failing', waiting: 0 } });
    receiver.behave({ kind: 'take' });
    started.exporter.addSpans([spanRecord({ name: 'the next one' })]);
    await waitFor('the next one arrives', () => receiver.spans.length === 1);
    await waitFor('the state is working again', () => started.exporter.states().spans?.state === 'working');
  });

  test('[O2] stopping sends the waiting records', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    const { exporter, dropped } = await startExporter(protocol, receiver.url);
    exporter.addSpans(manySpans(600));
    exporter.addLogs([logRecord()]);
    exporter.addMetrics([metricRecord()]);
    await exporter.stop(2_000);
    expect([receiver.spans.length, receiver.logs.length]).toEqual([600, 1]);
    expect(receiver.metrics.map(({ name }) => name)).toContain('svc.invocations.total');
    expect(dropped).toEqual(new Map());
  });

  test('[O2] stopping waits for a collector that does not answer only for the given time', async () => {
    await using receiver = await startOtlpReceiver(protocol);
    receiver.behave({ kind: 'hold' });
    const { exporter, dropped } = await startExporter(protocol, receiver.url);
    exporter.addSpans(manySpans(600));
    await exporter.stop(100);
    expect(dropped.get('spans export_unsent_at_stop')).toBe(600);
  });
});
