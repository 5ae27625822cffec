// What a worker reports about itself: logs, spans of its handlers, measurements (SDK-9, SDK-10).

import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterEach, expect, test } from 'vitest';
import { type InternalOptions, nodePlatform } from '../../../../src/sdk/internal.ts';
import type { HandlerContext } from '../../../../src/sdk/worker/handler.ts';
import { FakePlatform } from '../../../support/fakes/fake-platform.ts';
import { connectSdkWorker, startSdkWorker } from '../../../support/fakes/sdk-worker.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;

afterEach(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

async function connected(options: InternalOptions = {}) {
  const platform = new FakePlatform();
  platform.createContextStorage = nodePlatform.createContextStorage;
  const { svc, socket } = await connectSdkWorker({ worker_name: 'w', ...options }, platform);
  const run = async (fields: object = {}): Promise<void> => {
    await platform.settle();
    socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id: 'f', ...fields });
    await platform.settle();
  };
  return { platform, svc, socket, run };
}

test('[SDK-9] records of one turn leave in one frame, within 100 ms', async () => {
  const { platform, svc, socket, run } = await connected();
  svc.registerFunction('f', (_: unknown, { logger }: HandlerContext) => {
    logger.info('one');
    logger.error('two', { code: 7, at: new Date(0) });
  });
  await run({ traceparent: SAMPLED });
  expect(socket.telemetry).toEqual([]);
  await platform.pass(100);
  const logs = socket.telemetry.filter(({ kind }) => kind === 'LOGS').map(({ body }) => JSON.stringify(body));
  expect(logs).toHaveLength(1);
  expect(logs[0]).toMatch(/"severityNumber":9,.*"stringValue":"one".*"severityNumber":17,.*"stringValue":"two"/);
  expect(logs[0]).toContain(`"traceId":"${TRACE}"`);
  expect(logs[0]).toContain('{"key":"code","value":{"intValue":7}}');
});

test('[SDK-9] the logger never throws, for any value', async () => {
  const { platform, svc, socket } = await connected();
  const hostile = {
    get secret(): never {
      throw new Error('a getter');
    },
  };
  const loop: unknown[] = [];
  loop.push(loop);
  for (const data of [hostile, loop, 1n, Symbol('s'), () => {}, null, 'text']) svc.logger.info('still here', data);
  await platform.pass(100);
  expect(JSON.stringify(socket.telemetry).match(/still here/g)).toHaveLength(7);
});

test('[SDK-9] records over the limit are dropped, and reported once there is room', async () => {
  const { platform, svc, socket } = await connected();
  for (let count = 0; count < 5_000; count++) svc.logger.info('flood');
  await platform.pass(100);
  const text = JSON.stringify(socket.telemetry);
  expect(text.match(/"flood"/g)).toHaveLength(4_096);
  expect(text).toContain('904 log records were dropped');
});

test('[SDK-9] records wait for a connection', async () => {
  const { platform, svc } = startSdkWorker();
  svc.logger.info('before');
  await platform.pass(500);
  const socket = await platform.connect();
  await platform.pass(100);
  expect(JSON.stringify(socket.telemetry)).toContain('before');
});

test('[SDK-10] a handler runs in a span only if the trace is kept', async () => {
  const { platform, svc, socket, run } = await connected();
  svc.registerFunction('f', () => {
    throw new RangeError('out of stock');
  });
  await run({ traceparent: SAMPLED.replace(/01$/, '00') });
  await run();
  await run({ traceparent: SAMPLED });
  await platform.pass(100);
  const frames = socket.telemetry.filter(({ kind }) => kind === 'OTLP');
  expect(frames).toHaveLength(1);
  const text = JSON.stringify(frames);
  expect(text.match(/execute f/g)).toHaveLength(1);
  expect(text).toContain('"status":{"code":2,"message":"out of stock"}');
});

test('[SDK-10] with OpenTelemetry in the program, its provider gets the spans and its context is passed on', async () => {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const { platform, svc, socket, run } = await connected({ wire: 'json' });
  await import('@opentelemetry/api');
  await platform.settle();
  let inner = '';
  svc.registerFunction('f', async () => {
    await Promise.resolve();
    await trace.getTracer('program').startActiveSpan('own work', async (span) => {
      inner = span.spanContext().spanId;
      void svc.trigger({ function_id: 'next' }).catch(() => {});
      span.end();
    });
  });
  await run({ traceparent: SAMPLED, baggage: 'user=ann' });
  await platform.pass(100);
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name }) => name)).toEqual(['own work', 'execute f']);
  expect(spans.map((span) => span.spanContext().traceId)).toEqual([TRACE, TRACE]);
  expect(spans[0]?.parentSpanContext?.spanId).toBe(spans[1]?.spanContext().spanId);
  const call = socket.take().find((frame) => frame.function_id === 'next');
  expect(call).toMatchObject({ traceparent: `00-${TRACE}-${inner}-01`, baggage: 'user=ann' });
  expect(socket.telemetry).toEqual([]);
});
