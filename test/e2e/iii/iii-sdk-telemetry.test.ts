// The published client of `iii` with its telemetry on, which is its default: a second socket, and trace context that it
// passes on from a handler to the calls of the handler.

import { beforeEach, expect, test, vi } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { treeOf } from '../../support/telemetry/traces.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

beforeEach(() => {
  for (const level of ['debug', 'log', 'info', 'warn'] as const) vi.spyOn(console, level).mockReturnValue(undefined);
});

test('[wire 10.2] its telemetry socket is accepted on /otel, and its spans are in the trace of the call', async () => {
  await using engine = await startTestEngine();
  await using worker = new IiiClient(engine.url, { otel: { enabled: true }, enableMetricsReporting: true });
  worker.sdk.registerFunction('math::add', async () => 3);
  await worker.ready();
  expect(await worker.call('math::add', {})).toBe(3);
  await using raw = await RawWorker.connect(engine.url);
  await raw.call('math::add', {}, { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` });
  expect(await treeOf(raw, TRACE_ID, 2)).toEqual(['call math::add', '  execute math::add']);
  expect(engine.counters.get('telemetry.dropped', 'unknown_prefix')).toBe(0);
  expect(engine.counters.get('frames.refused')).toBe(0);
  // One connection is a worker; the other one only brings telemetry.
  const { workers } = await worker.sdk.trigger({ function_id: 'engine::workers::list', payload: { runtime: 'node' } });
  expect(workers).toHaveLength(1);
});

test('[wire 10.22] [I8] trace and depth of a call continue in the calls of its handler', async () => {
  await using engine = await startTestEngine();
  await using worker = new IiiClient(engine.url, { otel: { enabled: true } });
  await using raw = await RawWorker.connect(engine.url);
  worker.sdk.registerFunction('outer::one', async () => await worker.call('inner::one', {}));
  await worker.ready();
  await raw.register('inner::one');
  const outer = raw.startCall(
    'outer::one',
    {},
    { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`, baggage: 'user=ann' },
  );
  const inner = await raw.next('invokefunction');
  expect(inner.traceparent).toMatch(new RegExp(`^00-${TRACE_ID}-(?!b7ad6b7169203331)[\\da-f]{16}-01$`));
  const baggage = String(inner.baggage).split(',');
  expect(baggage).toContain('user=ann');
  expect(baggage).toContain('svc.depth=2');
  expect(baggage).toContain('svc.function.id=inner%3A%3Aone');
  raw.answer(inner, { result: 'deep' });
  expect(await raw.answerTo(outer)).toMatchObject({ result: 'deep' });
});

test('[I8] a function that calls itself is stopped at depth 64, and its first caller gets the error', async () => {
  await using engine = await startTestEngine();
  await using worker = new IiiClient(engine.url, { otel: { enabled: true } });
  let runs = 0;
  worker.sdk.registerFunction('loop::again', async () => {
    runs++;
    return await worker.call('loop::again', {});
  });
  await worker.ready();
  await expect(worker.call('loop::again', {})).rejects.toThrow('DEPTH_EXCEEDED');
  expect(runs).toBe(64);
});

test('[wire 1.11] telemetry on / is accepted as well, as older clients send it', async () => {
  await using engine = await startTestEngine();
  await using worker = await RawWorker.connect(engine.url);
  const traceId = 'a'.repeat(32);
  const span = { traceId, spanId: 'b'.repeat(16), name: 'old', startTimeUnixNano: '1', endTimeUnixNano: '2' };
  const body = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
  worker.sendBinary(Buffer.from(`OTLP${JSON.stringify(body)}`));
  worker.sendBinary(Buffer.from('{"type":"registerfunction","id":"binary::json"}'));
  await worker.settled();
  expect(await treeOf(worker, traceId, 1)).toEqual(['old']);
  const { result } = await worker.call('engine::functions::info', { function_id: 'binary::json' });
  expect(result).toMatchObject({ function_id: 'binary::json' });
});
