// Traces and metrics of a running engine.

import { expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import {
  ask,
  type Fields,
  OBSERVED,
  observedBy,
  refusalOf,
  sendCounter,
} from '../../support/telemetry/observability-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const rows = (answer: Fields) => answer.spans as (Fields & { trace_id: string; span_id: string })[];

test('[guarantees 2.8] A trace is listed by its root span with all columns, and shown as a tree', async () => {
  await using engine = await startTestEngine({ yaml: OBSERVED });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('shop::stock', () => ({ left: 3 }));
  await worker.serve('shop::order', (_data, { traceparent, baggage }) => {
    worker.startCall('shop::stock', {}, { traceparent, baggage });
    return { ok: true };
  });
  await worker.call('shop::order', {}, { baggage: 'tenant=blue' });
  const listed = await waitFor('the trace has both spans', async () => {
    const answer = await ask(worker, 'engine::traces::list');
    return rows(answer)[0]?.span_count === 2 && rows(answer)[0]?.trace_status === 'ok' ? answer : undefined;
  });
  expect(listed).toMatchObject({ total: 1, offset: 0, limit: 100 });
  const [row] = rows(listed);
  expect(row).toMatchObject({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    parent_span_id: null,
    name: 'call shop::order',
    status: 'ok',
    service_name: 'svc',
    services: ['svc'],
    has_error: false,
    trace_status: 'ok',
    duration_ms: expect.any(Number),
    attributes: expect.arrayContaining([['baggage.tenant', 'blue']]),
    events: [],
    links: [],
  });
  const tree = await ask(worker, 'engine::traces::tree', { trace_id: row?.trace_id });
  const [root] = tree.roots as { span_id: string; children: Fields[] }[];
  expect(root?.children.map(({ name, parent_span_id }) => [name, parent_span_id])).toEqual([
    ['call shop::stock', root?.span_id],
  ]);
  const { span } = await ask(worker, 'engine::traces::span', { trace_id: row?.trace_id, span_id: root?.span_id });
  expect(span).toMatchObject({ name: 'call shop::order' });
  expect(await ask(worker, 'engine::traces::tree', { trace_id: 'f'.repeat(32) })).toEqual({
    ...{ roots: [], span_count: 0 },
    retention: {
      ...{ whole_since_ms: expect.any(Number), kept_since_ms: null },
      ...{ setting: 'trace_storage', value: null, is_sampled: false },
    },
  });
});

test('[TRC-2] Traces can be filtered, sorted, paged, grouped and counted by facet', async () => {
  await using engine = await startTestEngine({ yaml: OBSERVED });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('a::one', () => 1);
  await worker.serve('a::two', () => {
    throw new Error('no');
  });
  for (const id of ['a::one', 'a::two', 'a::one']) await worker.call(id);
  const list = (payload: Fields) => ask(worker, 'engine::traces::list', payload);
  const names = async (payload: Fields) => rows(await list(payload)).map(({ name }) => name);
  expect(await names({ name: 'A::TWO' })).toEqual(['call a::two']);
  expect(await names({ status: 'error' })).toEqual(['call a::two']);
  expect(await names({ status: 'ok', service_name: 'SV' })).toEqual(['call a::one', 'call a::one']);
  expect(await names({ attributes: [['function_id', 'a::two']] })).toEqual(['call a::two']);
  expect(await names({ exclude_attributes: [['function_id', 'a::one']] })).toEqual(['call a::two']);
  expect(await names({ min_duration_ms: 3_600_000 })).toEqual([]);
  expect(await names({ sort_by: 'name', sort_order: 'desc', offset: 1, limit: 1 })).toEqual(['call a::one']);
  expect(await list({ limit: 1, end_time: 1 })).toMatchObject({ total: 0, limit: 1 });
  const groups = await ask(worker, 'engine::traces::group_by', { attribute: 'function_id' });
  expect(groups.groups).toMatchObject([
    { value: 'a::one', span_count: 2, trace_count: 2, error_count: 0 },
    { value: 'a::two', span_count: 1, error_count: 1 },
  ]);
  const { facets } = await ask(worker, 'engine::traces::facets', { key: 'function_id' });
  expect(facets).toEqual([
    {
      key: 'function_id',
      count: 3,
      values: [
        { value: 'a::one', count: 2 },
        { value: 'a::two', count: 1 },
      ],
    },
  ]);
  expect(await refusalOf(worker, 'engine::traces::list', { limit: -1 })).toBe('BAD_REQUEST');
  expect(await refusalOf(worker, 'engine::traces::list', { offset: 0.5 })).toBe('BAD_REQUEST');
  expect(await ask(worker, 'engine::traces::clear')).toEqual({ success: true });
  expect((await list({})).total).toBe(0);
});

test('A running call is a pending trace', async () => {
  await using engine = await startTestEngine({ yaml: OBSERVED });
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('slow::one');
  const call = worker.startCall('slow::one');
  const running = await worker.next('invokefunction');
  const pending = await waitFor('the call is listed', async () => {
    const [row] = rows(await ask(worker, 'engine::traces::list', { status: 'pend' }));
    return row;
  });
  expect(pending).toMatchObject({ name: 'call slow::one', pending: true, trace_status: 'pending' });
  worker.answer(running, { result: 1 });
  await worker.answerTo(call);
  const [ended] = rows(await ask(worker, 'engine::traces::list'));
  expect(ended).toMatchObject({ span_id: pending.span_id, trace_status: 'ok' });
});

test('Without the memory exporter a list of traces is refused with the reason', async () => {
  await using engine = await startTestEngine({ yaml: observedBy('{enabled: true, exporter: otlp}') });
  await using worker = await RawWorker.connect(engine.url);
  expect(await refusalOf(worker, 'engine::traces::list', {})).toBe('memory_exporter_not_enabled');
});

test('[O1] Traces beyond the limit are dropped, and counted', async () => {
  const yaml = observedBy('{enabled: true, exporter: memory, memory_max_spans: 5}');
  await using engine = await startTestEngine({ yaml });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('a::one', () => 1);
  for (let at = 1; at <= 8; at++) {
    const traceparent = `00-${String(at).repeat(32)}-${String(at).repeat(16)}-01`;
    await worker.call('a::one', {}, { traceparent });
  }
  expect((await ask(worker, 'engine::traces::list')).total).toBe(5);
  await expectCount(engine, 3, 'telemetry.dropped', 'spans,limit');
});

test('Metrics of the engine and of workers are listed, aggregated and rolled up', async () => {
  await using engine = await startTestEngine({ yaml: OBSERVED });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('a::one', () => 1);
  await worker.serve('a::two', () => {
    throw new Error('no');
  });
  for (const id of ['a::one', 'a::two', 'a::one']) await worker.call(id);
  const nowMs = Date.now();
  sendCounter(worker, 'shop.orders', 4, nowMs);
  await worker.settled();
  const range = { start_time: nowMs - 60_000, end_time: nowMs + 60_000 };
  const answer = await ask(worker, 'engine::metrics::list', { ...range, aggregate_interval: 60 });
  expect(answer.engine_metrics).toMatchObject({
    invocations: { total: 3, success: 2, error: 1, deferred: 0, by_function: { 'a::one': 2, 'a::two': 1 } },
    workers: { spawns: 1, deaths: 0, active: 1 },
    performance: {
      ...{ avg_duration_ms: expect.any(Number), p50_duration_ms: expect.any(Number) },
      ...{ p95_duration_ms: expect.any(Number), p99_duration_ms: expect.any(Number) },
      ...{ min_duration_ms: expect.any(Number), max_duration_ms: expect.any(Number) },
    },
  });
  expect(answer.sdk_metrics).toMatchObject([
    { name: 'shop.orders', metric_type: 'counter', unit: '1', service_name: 'shop', data_points: [{ value: 4 }] },
  ]);
  expect(answer.aggregated_metrics).toMatchObject([{ name: 'shop.orders', count: 1, sum: 4, percentiles: { p99: 4 } }]);
  expect(answer.query).toEqual({ ...range, aggregate_interval: 60, metric_name: null });
  const plain = await ask(worker, 'engine::metrics::list', { metric_name: 'nothing' });
  expect(plain).toEqual({ engine_metrics: expect.anything(), sdk_metrics: [], timestamp: expect.any(Number) });
  const rolled = await waitFor('the point is rolled up', async () => {
    const found = await ask(worker, 'engine::rollups::list', { level: 1 });
    return (found.rollups as unknown[]).length > 0 && found;
  });
  expect(rolled).toMatchObject({
    rollups: [{ name: 'shop.orders', count: 1, sum: 4, min: 4, max: 4, avg: 4 }],
    histogram_rollups: [],
    level: 1,
    query: { metric_name: null },
  });
  expect(await refusalOf(worker, 'engine::rollups::list', { level: 3 })).toBe('BAD_REQUEST');
  expect(await refusalOf(worker, 'engine::metrics::list', { aggregate_interval: 0 })).toBe('BAD_REQUEST');
});

test('Baggage, sampling rules and the state of telemetry can be read', async () => {
  const sampling =
    'sampling: {default: 0.5, rules: [{operation: "api.*", rate: 1}], rate_limit: {max_traces_per_second: 9}}';
  await using engine = await startTestEngine({ yaml: observedBy(`{enabled: true, exporter: memory, ${sampling}}`) });
  await using worker = await RawWorker.connect(engine.url);
  const context = { baggage: 'tenant=blue%20sky,other=1' };
  const found = await worker.call('engine::baggage::get', { key: 'tenant' }, context);
  expect(found.result).toEqual({ value: 'blue sky' });
  expect((await worker.call('engine::baggage::get', { key: 'none' }, context)).result).toEqual({ value: null });
  const all = await worker.call('engine::baggage::get_all', {}, context);
  expect(all.result).toEqual({ baggage: { tenant: 'blue sky', other: '1' } });
  expect(await ask(worker, 'engine::baggage::set', { key: 'a', value: 'b' })).toEqual({ success: true });
  expect(await ask(worker, 'engine::sampling::rules')).toEqual({
    traces: {
      default_ratio: 0.5,
      rules: [{ operation: 'api.*', service: null, rate: 1 }],
      parent_based: true,
      rate_limit: { max_traces_per_second: 9 },
    },
    logs: { sampling_ratio: 1 },
    timestamp: expect.any(Number),
  });
  expect((await ask(worker, 'engine::health::check')).components).toMatchObject({
    otel: { status: 'healthy', details: { enabled: true, service_name: 'svc', exporter: 'memory' } },
    metrics: { status: 'disabled', details: null },
    logs: { status: 'healthy', details: { stored_logs: expect.any(Number) } },
    spans: { status: 'healthy', details: { stored_spans: expect.any(Number) } },
    modules: { 'svc-observability': { status: 'healthy' } },
  });
});

test('[FLO-2] Edges name the scope and the stream that a function used', async () => {
  const stores = ['state', 'stream'].map((name) => {
    const port = name === 'stream' ? 'port: 0, ' : '';
    return `  - {name: svc-${name}, config: {${port}adapter: {name: kv, config: {store_method: in_memory}}}}\n`;
  });
  await using engine = await startTestEngine({ yaml: OBSERVED + stores.join('') });
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('shop::order', async (_data, { traceparent }) => {
    const item = { stream_name: 'feed', group_id: 'g', item_id: 'i', data: {} };
    worker.startCall('state::set', { scope: 'orders "new"', key: 'k', value: 1 }, { traceparent });
    worker.startCall('stream::set', item, { traceparent });
    worker.startCall('state::list_groups', {}, { traceparent });
    worker.startCall('state::get', { scope: 's'.repeat(3_000), key: 'k' }, { traceparent });
    return null;
  });
  await worker.call('shop::order', {});
  const edges = await waitFor('all four calls are in the trace', async () => {
    const found = (await ask(worker, 'engine::traces::edges')).edges as { to: Fields; calls: number }[];
    return found.reduce((sum, { calls }) => sum + calls, 0) === 4 ? found : undefined;
  });
  expect(edges).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ from: 'shop::order', to: { kind: 'state', name: 'orders "new"' }, calls: 1 }),
      expect.objectContaining({ from: 'shop::order', to: { kind: 'stream', name: 'feed' }, calls: 1 }),
      expect.objectContaining({ from: 'shop::order', to: { kind: 'state', name: 'state' }, calls: 2 }),
    ]),
  );
});
