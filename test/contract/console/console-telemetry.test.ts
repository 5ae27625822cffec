// Traces, logs, metrics, alerts and sampling through the console API and its live socket, compared with the contract.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Enqueue } from '../../../src/sdk/index.ts';
import { createWorker } from '../../../src/sdk/internal.ts';
import type { SvcWorker } from '../../../src/sdk/worker/svc-worker.ts';
import {
  type ConsoleEngine,
  consoleCall,
  consoleError,
  consoleReply,
  LiveClient,
  startConsoleEngine,
} from '../../support/telemetry/console-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

let engine: ConsoleEngine;
let worker: SvcWorker;
let traceId: string;

beforeAll(async () => {
  engine = await startConsoleEngine({
    modules: [
      '  - name: svc-observability',
      '    config: {enabled: true, exporter: memory, logs_enabled: true, metrics_enabled: true}',
    ],
  });
  worker = createWorker(engine.url, { worker_name: 'shop', handle_signals: false, log: () => {} });
  await worker.ready();
  worker.registerFunction('shop::order', async () => worker.trigger({ function_id: 'shop::pay', payload: {} }));
  worker.registerFunction('shop::pay', async () => 'paid');
  worker.registerFunction('shop::fails', async () => {
    throw new Error('no stock');
  });
  traceId = await waitFor('a call works', () => invoke('shop::order'));
});

afterAll(async () => {
  await worker.shutdown();
  await engine.drain();
});

async function invoke(functionId: string): Promise<string | undefined> {
  const reply = await consoleReply(engine, 'POST /invoke', { body: { function_id: functionId } });
  return reply.status === 404 ? undefined : String(reply.headers['x-svc-trace-id']);
}

function fail(): never {
  throw new Error('no address');
}

async function startFewSpans(queues = '') {
  const few = await startConsoleEngine({
    queues,
    modules: ['  - {name: svc-observability, config: {enabled: true, exporter: memory, memory_max_spans: 40}}'],
  });
  const filler = createWorker(few.url, { worker_name: 'filler', handle_signals: false, log: () => {} });
  await filler.registerFunction('shop::many', () => null).ready();
  return {
    engine: few,
    async [Symbol.asyncDispose]() {
      await filler.shutdown();
      await few.drain();
    },
  };
}

const log = (level: string, message: string) =>
  consoleReply(engine, 'POST /invoke', { body: { function_id: `engine::log::${level}`, payload: { message } } });

describe('functions', () => {
  test('[DSH-5] A list that asks for it has the calls of the last minutes', async () => {
    await invoke('shop::fails');
    const list = (query: { q: string; recent?: boolean }) => consoleCall(engine, 'GET /functions', { query });
    const [failing] = await waitFor('the failed call is counted', async () => {
      const { items } = await list({ q: 'shop::fails', recent: true });
      return items[0]?.figures?.errors === 1 && items;
    });
    const { recent = [] } = failing?.figures ?? {};
    expect(recent).toHaveLength(15);
    expect(recent.reduce((sum, { errors }) => sum + errors, 0)).toBe(1);
    const { items } = await list({ q: 'shop::fails' });
    expect(items[0]?.figures).not.toHaveProperty('recent');
  });
});

test('[DSH-5] The rate of a function covers the time since the engine started, not always five minutes', async () => {
  await using few = await startFewSpans();
  const call = () => consoleReply(few.engine, 'POST /invoke', { body: { function_id: 'shop::many' } });
  for (let n = 0; n < 60; n++) await call();
  const figures = await waitFor('all calls are counted', async () => {
    const { items } = await consoleCall(few.engine, 'GET /functions', { query: { q: 'shop::many' } });
    return items[0]?.figures?.calls === 60 ? items[0].figures : undefined;
  });
  expect(figures.calls_per_minute).toBeGreaterThan(60 / 4);
});

describe('traces', () => {
  test('POST /traces/search finds a call by function, and by its id', async () => {
    const rows = await waitFor('the trace is stored', async () => {
      const { items } = await consoleCall(engine, 'POST /traces/search', { body: { trace_id: traceId } });
      return items.length > 0 && items;
    });
    expect(rows).toMatchObject([{ trace_id: traceId, status: 'ok' }]);
    const { total } = await consoleCall(engine, 'POST /traces/search', { body: { function_id: 'shop::pay' } });
    expect(total).toBeGreaterThan(0);
  });

  test('GET /traces/{id} has the spans of the call and of its calls, one span, and both exports', async () => {
    const detail = await waitFor('both calls are stored', async () => {
      const found = await consoleCall(engine, 'GET /traces/{id}', { path: [traceId] });
      return found.spans.some(({ name }) => name === 'call shop::pay') && found;
    });
    const outer = detail.spans.find(({ name }) => name === 'call shop::order');
    expect(outer?.child_count).toBeGreaterThan(0);
    const path = [traceId, outer?.span_id ?? ''];
    expect((await consoleCall(engine, 'GET /traces/{id}/spans/{span}', { path })).name).toBe('call shop::order');
    const exported = async (format: string): Promise<string> =>
      (await consoleReply(engine, 'GET /traces/{id}/export', { path: [traceId], query: { format } })).text;
    expect(await exported('otlp')).toContain(`"traceId":"${traceId}"`);
    // A file that is opened here again has its tree.
    expect(await exported('chrome')).toContain(`"parent_span_id":"${outer?.span_id}"`);
    const levels = await consoleCall(engine, 'GET /traces/{id}', { path: [traceId], query: { max_depth: 0 } });
    expect(levels.spans.length).toBeLessThan(detail.spans.length);
    expect(levels.span_count).toBe(detail.span_count);
  });

  test('[API-3] A call made by hand names the console as its cause', async () => {
    const { spans } = await consoleCall(engine, 'GET /traces/{id}', { path: [traceId] });
    const call = spans.find(({ name }) => name === 'call shop::order');
    expect(call?.attributes).toContainEqual(['trigger.type', 'console']);
    expect(call?.attributes).toContainEqual(['svc.function.kind', 'user']);
  });

  test('[API-2] Reads by the console are in no statistics, and internal in traces', async () => {
    const total = async () => (await consoleCall(engine, 'GET /metrics')).engine_metrics.invocations.total;
    // Counts arrive in steps: the call of a worker and the one that it made.
    const before = await waitFor('both calls are counted', async () => {
      const now = await total();
      return now >= 2 && now;
    });
    await consoleCall(engine, 'GET /states/scopes');
    const { items } = await waitFor('the reading is traced', async () => {
      const page = await consoleCall(engine, 'POST /traces/search', { body: { include_internal: true } });
      return page.items.some(({ name }) => name.startsWith('call state::')) && page;
    });
    expect(items.find(({ name }) => name.startsWith('call state::'))).toMatchObject({ internal: true });
    const shown = await consoleCall(engine, 'POST /traces/search', { body: {} });
    expect(shown.items.filter(({ name }) => name.startsWith('call state::'))).toEqual([]);
    expect(await total()).toBe(before);
  });

  test('An unknown trace and an unknown span are 404', async () => {
    expect(await consoleError(engine, 'GET /traces/{id}', { path: ['f'.repeat(32)] })).toMatchObject({ status: 404 });
    const path = [traceId, 'f'.repeat(16)];
    expect(await consoleError(engine, 'GET /traces/{id}/spans/{span}', { path })).toMatchObject({ status: 404 });
  });

  test('GET /traces/facets names services, spans and attributes', async () => {
    const facets = await consoleCall(engine, 'GET /traces/facets');
    expect(facets.attributes.map(({ key }) => key)).toContain('function_id');
    expect(facets.names.map(({ value }) => value)).toContain('call shop::order');
  });

  test('GET /functions has statistics; GET /flow/graph has the edge between the two', async () => {
    const { items } = await consoleCall(engine, 'GET /functions', { query: { ns: 'shop', sort: 'calls' } });
    expect(items.every(({ figures }) => figures !== null)).toBe(true);
    const edges = await waitFor('the edge is seen', async () => {
      const graph = await consoleCall(engine, 'GET /flow/graph');
      return graph.edges.some(({ id }) => id === 'function:shop::order>function:shop::pay') && graph.edges;
    });
    expect(edges.find(({ to }) => to === 'function:shop::pay')).toMatchObject({ kind: 'seen', error_rate: 0 });
  });

  test('The topics traces and trace:<id> send new traces and spans', async () => {
    await using live = await LiveClient.open(`ws://127.0.0.1:${engine.httpPort}/_console/v1/live`);
    const traces = await live.subscribe('traces');
    const failed = await live.subscribe('traces', { filter: { status: 'error' } });
    const id = await invoke('shop::fails');
    await live.item(traces, 'the failing call', (row) => row.trace_id === id);
    await live.item(failed, 'the failing call, filtered', (row) => row.trace_id === id);
    expect(live.itemsOf(failed)).not.toContainEqual(expect.objectContaining({ status: 'ok' }));
    const spans = await live.subscribe(`trace:${id}`);
    await live.item(spans, 'its span', ({ name }) => name === 'call shop::fails');
  });
});

describe('logs', () => {
  test('are searched, counted, shown around one of them, and sent live', async () => {
    await using live = await LiveClient.open(`ws://127.0.0.1:${engine.httpPort}/_console/v1/live`);
    const topic = await live.subscribe('logs', { filter: { severity_min: 13 } });
    await log('info', 'calm');
    await log('error', 'alarm one');
    await log('warn', 'alarm two');
    await live.item(topic, 'the last alarm', ({ body }) => body === 'alarm two');
    expect(live.itemsOf(topic)).toMatchObject([{ body: 'alarm one' }, { body: 'alarm two' }]);
    const { items } = await consoleCall(engine, 'POST /logs/search', { body: { q: 'alarm', order: 'asc' } });
    expect(items.map(({ body }) => body)).toEqual(['alarm one', 'alarm two']);
    const around = { id: items[0]?.id ?? '', before: 1, after: 1 };
    const near = await consoleCall(engine, 'POST /logs/search', { body: { around } });
    expect(near.items.map(({ body }) => body)).toContain('calm');
    const histogram = await consoleCall(engine, 'POST /logs/histogram', { body: { q: 'alarm', buckets: 10 } });
    expect(histogram.buckets.reduce((sum, { error, warn }) => sum + error + warn, 0)).toBe(2);
    const wrong = await consoleError(engine, 'POST /logs/search', { body: { q: '/(/' } });
    expect(wrong).toMatchObject({ status: 400, code: 'BAD_REQUEST' });
  });
});

describe('statistics', () => {
  test('[WRK-1] GET /workers has processor time, memory and loop delay as the worker reports them', async () => {
    const metrics = await waitFor('the worker has reported its metrics', async () => {
      const { items } = await consoleCall(engine, 'GET /workers');
      const row = items.find(({ name }) => name === 'shop');
      return row?.metrics.memory_bytes !== null && row?.metrics;
    });
    expect(metrics?.memory_bytes).toBeGreaterThan(1_000_000);
    expect(metrics?.cpu_percent).toBeGreaterThanOrEqual(0);
    expect(metrics?.event_loop_delay_ms).toBeGreaterThanOrEqual(0);
  });

  test('[FUN-2] GET /functions counts a call once, whatever spans it has, and one function has its last error', async () => {
    worker.registerFunction('shop::once', async () => {
      throw new Error('sold out');
    });
    await waitFor('the function is called', () => invoke('shop::once'));
    const calls = await waitFor('the call is in the figures', async () => {
      const { items } = await consoleCall(engine, 'GET /functions', { query: { q: 'shop::once' } });
      return items[0]?.figures?.calls || undefined;
    });
    expect(calls).toBe(1);
    const { figures } = await consoleCall(engine, 'GET /functions/{id}', { path: ['shop::once'] });
    expect(figures?.last_error_at).toBeGreaterThan(0);
  });

  test('[FUN-8] The last error is the function’s own, not that of the trace that it was called in', async () => {
    worker.registerFunction('shop::calm', () => 'fine');
    worker.registerFunction('shop::raises', () => Promise.reject(new Error('out of paper')));
    worker.registerFunction('shop::forgives', () =>
      worker.trigger({ function_id: 'shop::raises' }).catch(() => 'ignored'),
    );
    worker.registerFunction('shop::stumbles', async () => {
      await worker.trigger({ function_id: 'shop::calm' });
      throw new Error('fell over');
    });
    await waitFor('both are called', async () => (await invoke('shop::forgives')) && (await invoke('shop::stumbles')));
    const figuresOf = async (id: string) => (await consoleCall(engine, 'GET /functions/{id}', { path: [id] })).figures;
    const raised = await waitFor('the failure is in the figures', async () => {
      const figures = await figuresOf('shop::raises');
      return figures?.errors === 0 ? undefined : figures;
    });
    expect(raised?.last_error).toMatch(/out of paper$/);
    expect(raised?.last_error_at).toBeGreaterThan(0);
    const calm = await waitFor('the other is too', async () => {
      const figures = await figuresOf('shop::calm');
      return figures?.calls === 0 ? undefined : figures;
    });
    expect(calm).toMatchObject({ errors: 0, last_error: null, last_error_at: null });
    const { items } = await consoleCall(engine, 'GET /functions', { query: { q: 'shop::stumbles' } });
    expect(items[0]?.figures?.last_error).toMatch(/fell over$/);
  });

  test('[FUN-8] GET /functions/{id}/runs lists the calls of a function, all or the failed ones', async () => {
    worker.registerFunction('shop::sometimes', async ({ fails }: { fails: boolean }) => {
      if (fails) throw new Error('not today');
      return 'fine';
    });
    await waitFor('it is registered', () => invoke('shop::sometimes'));
    for (const fails of [true, false]) {
      await worker.trigger({ function_id: 'shop::sometimes', payload: { fails } }).catch(() => {});
    }
    const runs = (query: { errors?: boolean } = {}) =>
      consoleCall(engine, 'GET /functions/{id}/runs', { path: ['shop::sometimes'], query });
    const failed = await waitFor('the failed run is stored', async () => {
      const { items } = await runs({ errors: true });
      return items.find(({ error }) => error?.includes('not today'));
    });
    expect(failed).toMatchObject({ status: 'error', worker: 'shop', trigger: null, attempt: null });
    expect(failed.input_bytes).toBeGreaterThan(10);
    const [newest] = (await runs()).items;
    expect(newest).toMatchObject({ status: 'ok', error: null, output_bytes: expect.any(Number) });
  });

  test('[O8] Figures of functions and connections count every call, also those whose spans have left', async () => {
    await using few = await startFewSpans();
    const caller = createWorker(few.engine.url, { worker_name: 'caller', handle_signals: false, log: () => {} });
    const loop = caller.registerFunction('shop::loop', async () => {
      for (let at = 0; at < 100; at++) await caller.trigger({ function_id: 'shop::many' });
      await caller.trigger({ function_id: 'shop::missing' }).catch(() => {});
    });
    await loop.ready();
    await caller.trigger({ function_id: loop });
    const row = await waitFor('all calls are counted', async () => {
      const { items } = await consoleCall(few.engine, 'GET /functions', { query: { q: 'shop::many' } });
      return items[0]?.figures?.calls === 100 ? items[0].figures : undefined;
    });
    expect(row).toMatchObject({ errors: 0, error_rate: 0, last_error: null });
    expect((await consoleCall(few.engine, 'POST /traces/search', { body: {} })).total).toBeLessThanOrEqual(40);
    const { edges } = await consoleCall(few.engine, 'GET /flow/graph');
    const [first, ...others] = edges.filter(({ from }) => from === 'function:shop::loop');
    expect([first?.to, ...others.map(({ to }) => to)].sort()).toEqual([
      'function:shop::many',
      'function:shop::missing',
    ]);
    const rates = new Map(edges.map(({ to, calls_per_minute }) => [to, calls_per_minute ?? 0]));
    expect((rates.get('function:shop::many') ?? 0) / (rates.get('function:shop::missing') ?? 1)).toBeCloseTo(100);
    const window = await consoleCall(few.engine, 'GET /calls', { query: { points: 10 } });
    expect(window.total).toMatchObject({ calls: 102, errors: 1 });
    expect(window.total.points.reduce((sum, { calls }) => sum + calls, 0)).toBe(102);
    await caller.shutdown();
  });

  test('[O8] Jobs are counted by queue, also when the engine has no trace of them', async () => {
    await using few = await startFewSpans(', posts: {max_retries: 1, backoff_ms: 0}');
    const maker = createWorker(few.engine.url, { worker_name: 'maker', handle_signals: false, log: () => {} });
    await maker.registerFunction('shop::send', ({ ok }: { ok: boolean }) => (ok ? null : fail())).ready();
    for (let at = 0; at < 20; at++) {
      await maker.trigger({ function_id: 'shop::send', payload: { ok: at >= 5 }, action: Enqueue({ queue: 'posts' }) });
    }
    const counted = await waitFor('all attempts are counted', async () => {
      const answer = await consoleCall(few.engine, 'GET /job-counts', { query: { queue: 'posts', points: 10 } });
      return answer.queues[0]?.attempts === 25 ? answer : undefined;
    });
    expect(counted.queues).toMatchObject([{ queue: 'posts', enqueued: 20, attempts: 25, failed: 10 }]);
    expect(counted.queues[0]?.points.reduce((sum, { failed }) => sum + failed, 0)).toBe(10);
    expect(counted.since_ms).toBeGreaterThan(0);
    expect((await consoleCall(few.engine, 'GET /job-counts')).queues).toMatchObject([{ queue: 'posts', points: [] }]);
    await maker.shutdown();
  });

  test('GET /metrics, /rollups, /alerts and /sampling, and alerts evaluated on request', async () => {
    const { engine_metrics } = await consoleCall(engine, 'GET /metrics');
    expect(engine_metrics.invocations.total).toBeGreaterThan(0);
    await consoleCall(engine, 'GET /rollups', { query: { level: 0 } });
    expect((await consoleCall(engine, 'GET /alerts')).alerts).toEqual([]);
    expect((await consoleCall(engine, 'POST /alerts/evaluate', { body: {} })).evaluated).toBe(true);
    expect((await consoleCall(engine, 'GET /sampling')).traces.default_ratio).toBe(1);
  });

  test('GET /status reports what is kept, the topic counters how many calls there are', async () => {
    const { telemetry } = await consoleCall(engine, 'GET /status');
    expect(telemetry).toMatchObject({ enabled: true, traces: true, logs: true, metrics: true, exporter: 'memory' });
    await using live = await LiveClient.open(`ws://127.0.0.1:${engine.httpPort}/_console/v1/live`);
    const id = await live.subscribe('counters');
    await live.item(id, 'a rate', ({ calls_per_s }) => typeof calls_per_s === 'number');
  });

  test('DELETE /logs and DELETE /traces remove stored records', async () => {
    expect(await consoleCall(engine, 'DELETE /logs')).toEqual({ success: true });
    expect(await consoleCall(engine, 'DELETE /traces')).toEqual({ success: true });
    const { total } = await consoleCall(engine, 'POST /logs/search', { body: { q: 'alarm' } });
    expect(total).toBe(0);
  });
});
