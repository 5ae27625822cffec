// Traces through calls, queues, triggers and HTTP, as the engine lists them afterwards.

import { describe, expect, test } from 'vitest';
import { Enqueue, http, type SvcWorker } from '../../../src/sdk/index.ts';
import { ask as request, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { ask, type Fields } from '../../support/telemetry/observability-engine.ts';
import { attributeOf, spansOf, treeOf } from '../../support/telemetry/traces.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;

const ALL_MODULES = `drain_timeout_ms: 100
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-http, config: {port: 0}}
  - {name: svc-queue, config: {adapter: {name: builtin, config: {store_method: in_memory}}}}
  - {name: svc-state, config: {adapter: {name: kv, config: {store_method: in_memory}}}}
`;

const HARDLY_ANY_TRACE = `workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-observability, config: {enabled: true, exporter: memory, sampling_ratio: 1.0e-9}}
`;

const connectTo = sdkWorkers();

function connect(engine: Pick<TestEngine, 'urls'>, name: string, wire: 'binary' | 'json' = 'binary'): SvcWorker {
  const url = engine.urls.find((address) => address.startsWith('ws:'));
  return connectTo(url, { worker_name: name, wire });
}

describe.each(['binary', 'json'] as const)('tracing over the %s form', (wire) => {
  test('[PD-31] [SDK-10] a nested call over two workers is one tree of calls and runs', async () => {
    await using engine = await startTestEngine();
    await using raw = await RawWorker.connect(engine.url);
    const shop = connect(engine, 'shop', wire);
    const stock = connect(engine, 'stock', wire);
    const take = stock.registerFunction('stock::take', async () => 1);
    const order = shop.registerFunction('shop::order', async () => await shop.trigger({ function_id: 'stock::take' }));
    await Promise.all([take.ready(), order.ready()]);
    await raw.call('shop::order', {}, { traceparent: SAMPLED, baggage: 'user=ann' });
    expect(await treeOf(raw, TRACE, 4)).toEqual([
      'call shop::order',
      '  execute shop::order',
      '    call stock::take',
      '      execute stock::take',
    ]);
    const spans = await spansOf(raw, TRACE);
    expect(spans.map(({ service_name }) => service_name)).toEqual(['svc', 'shop', 'svc', 'stock']);
    expect(attributeOf(spans[2] ?? fail(), 'baggage.user')).toBe('ann');
  });

  test('[SDK-9] the logs of a trace that is not sampled share its id', async () => {
    await using engine = await startTestEngine({ yaml: HARDLY_ANY_TRACE });
    await using raw = await RawWorker.connect(engine.url);
    const shop = connect(engine, 'shop', wire);
    const stock = connect(engine, 'stock', wire);
    const take = stock.registerFunction('stock::take', (_: unknown, { logger, trace }) => {
      logger.info('taking');
      return trace?.trace_id;
    });
    const order = shop.registerFunction('shop::order', async (_: unknown, { logger, trace }) => {
      const below = await shop.trigger({ function_id: 'stock::take' });
      logger.info('ordered');
      return [trace?.trace_id, below];
    });
    await Promise.all([take.ready(), order.ready()]);
    const [traceId, below] = await shop.trigger<unknown, unknown[]>({ function_id: 'shop::order' });
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(below).toBe(traceId);
    const logs = await logsOf(raw, { trace_id: traceId }, 2);
    expect(logs.map(({ body }) => body).sort()).toEqual(['ordered', 'taking']);
    expect(await spansOf(raw, String(traceId))).toEqual([]);
  });

  test('[SDK-9] a record of ctx.logger has the id of its function and the span of its run', async () => {
    await using engine = await startTestEngine();
    await using raw = await RawWorker.connect(engine.url);
    const shop = connect(engine, 'shop', wire);
    const order = shop.registerFunction('shop::order', (_payload: unknown, { logger }) => {
      const cycle: Record<string, unknown> = { sku: 'a1' };
      cycle.self = cycle;
      logger.info('creating', { sku: 'a1', count: 2, password: 'sesame' });
      logger.warn('odd', cycle);
    });
    await order.ready();
    await raw.call('shop::order', {}, { traceparent: SAMPLED });
    const logs = await logsOf(raw, { trace_id: TRACE }, 2);
    const run = (await spansOf(raw, TRACE)).find(({ name }) => name === 'execute shop::order');
    expect(logs).toMatchObject([
      { body: 'odd', severity_text: 'WARN', attributes: { sku: 'a1', function_id: 'shop::order' } },
      {
        body: 'creating',
        severity_text: 'INFO',
        service_name: 'shop',
        span_id: run?.span_id,
        attributes: { sku: 'a1', count: 2, password: '[redacted]', function_id: 'shop::order' },
      },
    ]);
  });
});

test('An HTTP request, its call and its job are one trace', async () => {
  await using engine = await startTestEngine({ yaml: ALL_MODULES });
  await using raw = await RawWorker.connect(engine.url);
  const httpPort = Number(new URL(engine.urls.find((url) => url.startsWith('http:')) ?? '').port);
  const shop = connect(engine, 'shop');
  const ran: string[] = [];
  const mail = shop.registerFunction('mail::send', (_mail: unknown, { baggage }) => {
    ran.push(baggage.get('user') ?? '');
  });
  const order = shop.registerFunction('shop::order', async () => {
    const action = Enqueue({ queue: 'default' });
    await shop.trigger({ function_id: 'mail::send', payload: {}, action });
    return { status_code: 201 };
  });
  const route = shop.registerTrigger({ ...http('POST', '/orders/:id'), function_id: order });
  await Promise.all([mail.ready(), order.ready(), route.ready()]);
  const headers = { traceparent: SAMPLED, baggage: 'user=ann', authorization: 'Bearer sesame' };
  const answer = await request({ httpPort }, '/orders/7?api_key=sesame&page=2', { method: 'POST', headers });
  expect(answer.status).toBe(201);
  await waitFor('the job has run', () => ran.length > 0);
  expect(ran).toEqual(['ann']);
  expect(await treeOf(raw, TRACE, 7)).toEqual([
    'POST /orders/:id',
    '  call shop::order',
    '    execute shop::order',
    '      enqueue mail::send → default',
    '        fn_queue default',
    '          call mail::send',
    '            execute mail::send',
  ]);
  const spans = await spansOf(raw, TRACE);
  const [server] = spans;
  expect(server?.attributes).toEqual(
    expect.arrayContaining([
      ['http.request.method', 'POST'],
      ['http.route', '/orders/:id'],
      ['url.path', '/orders/7'],
      ['url.query', 'api_key=[redacted]&page=2'],
      ['http.response.status_code', '201'],
    ]),
  );
  const job = spans.find(({ name }) => name === 'fn_queue default');
  expect(job?.links).toMatchObject([{ trace_id: TRACE, span_id: job?.parent_span_id }]);
  expect(JSON.stringify(spans)).not.toContain('sesame');
});

test('[modules 5.8] A request with a status of 400 or above is an error in its trace', async () => {
  await using engine = await startHttpEngine();
  await using raw = await RawWorker.connect(engine.urls.find((url) => url.startsWith('ws:')) ?? '');
  const shop = connect(engine, 'shop');
  const order = shop.registerFunction('shop::order', () => ({ status_code: 404 }));
  await shop.registerTrigger({ ...http('GET', '/none'), function_id: order }).ready();
  await request(engine, '/none', { headers: { traceparent: SAMPLED } });
  await treeOf(raw, TRACE, 3);
  const [server] = await spansOf(raw, TRACE);
  expect(server).toMatchObject({ name: 'GET /none', status: 'error' });
});

test('The call of a state trigger belongs to the trace of the change', async () => {
  await using engine = await startTestEngine({ yaml: ALL_MODULES });
  await using raw = await RawWorker.connect(engine.url);
  const shop = connect(engine, 'shop');
  let runs = 0;
  const seen = shop.registerFunction('shop::seen', () => {
    runs++;
  });
  await shop.registerTrigger({ type: 'state', function_id: seen, config: { scope: 'orders' } }).ready();
  await raw.call('state::set', { scope: 'orders', key: 'a', value: 1 }, { traceparent: SAMPLED });
  await waitFor('the trigger fired', () => runs > 0);
  expect(await treeOf(raw, TRACE, 4)).toEqual([
    'call state::set',
    '  trigger shop::seen',
    '    call shop::seen',
    '      execute shop::seen',
  ]);
});

test('[SDK-9] Gauges of a worker arrive as metrics', async () => {
  await using engine = await startTestEngine();
  await using raw = await RawWorker.connect(engine.url);
  const shop = connect(engine, 'shop');
  await shop.ready();
  const named = { metric_name: 'svc.worker.memory.heap_used' };
  await waitFor('gauges arrive', async () => {
    const { sdk_metrics } = await ask(raw, 'engine::metrics::list', named);
    return (sdk_metrics as unknown[]).length > 0;
  });
  const { sdk_metrics } = await ask(raw, 'engine::metrics::list', named);
  expect(sdk_metrics).toMatchObject([
    { metric_type: 'gauge', unit: 'By', service_name: 'shop', data_points: [{ value: expect.any(Number) }] },
  ]);
  expect(JSON.stringify(sdk_metrics)).toContain(shop.id);
});

test('[O3] [fault 45] A log trigger fires once although its handler logs in every way and calls workers that log', async () => {
  const line = faultLine('45', 'log trigger that logs', 'fired=2');
  await using engine = await startTestEngine();
  await using raw = await RawWorker.connect(engine.url);
  const first = connect(engine, 'first');
  const second = connect(engine, 'second', 'json');
  const fired: unknown[] = [];
  const other = second.registerFunction('second::log', (_: unknown, { logger }) => logger.error('from another worker'));
  const handler = first.registerFunction('first::on_log', async (entry: { body: string }, { logger }) => {
    fired.push(entry.body);
    logger.error('from the handler');
    first.logger.error('from its worker');
    await first.trigger({ function_id: 'engine::log::error', payload: { message: 'from a call' } });
    await first.trigger({ function_id: 'second::log' });
  });
  await Promise.all([other.ready(), handler.ready()]);
  await first.registerTrigger({ type: 'log', function_id: handler, config: { level: 'error' } }).ready();
  await raw.call('engine::log::error', { message: 'the cause' });
  await logsOf(raw, { severity_min: 17 }, 5);
  await raw.call('engine::log::error', { message: 'the next cause' });
  await waitFor('the next cause fires', () => fired.includes('the next cause'));
  line.figure = `fired=${fired.length}`;
  expect(fired).toEqual(['the cause', 'the next cause']);
});

test('[O1] A call whose worker is lost leaves no pending span', async () => {
  await using engine = await startTestEngine();
  await using raw = await RawWorker.connect(engine.url);
  const dying = await RawWorker.connect(engine.url);
  await dying.register('dying::run');
  const call = raw.startCall('dying::run', {}, { traceparent: SAMPLED });
  await dying.next('invokefunction');
  await dying[Symbol.asyncDispose]();
  await raw.answerTo(call);
  await treeOf(raw, TRACE, 1);
  const [span] = await spansOf(raw, TRACE);
  expect(span).toMatchObject({ name: 'call dying::run', status: 'error' });
  const { spans } = await ask(raw, 'engine::traces::list', { status: 'error' });
  expect(spans).toMatchObject([{ trace_id: TRACE, has_error: true }]);
});

/** Waits for this many records. */
async function logsOf(raw: RawWorker, filter: Fields, count: number): Promise<Fields[]> {
  let logs: Fields[] = [];
  await waitFor(`${count} log records`, async () => {
    logs = (await ask(raw, 'engine::logs::list', filter)).logs as Fields[];
    return logs.length >= count;
  });
  return logs;
}

function fail(): never {
  throw new Error('There is no such span');
}
