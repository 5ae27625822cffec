// An engine under pressure (L1 to L3): what it refuses, what it continues to do, and what it reports.
// The test sets the load gauge; everything else is real.

import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ask, askJson, startHttpEngine } from '../../support/clients/http-engine.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { enqueue, receiptOf, statsOf } from '../../support/stores/queue-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const MODULES = [
  '{name: svc-queue, config: {queue_configs: {default: {concurrency: 8}}, adapter: {name: builtin, config: {store_method: in_memory}}}}',
  '{name: svc-stream, config: {port: 0, host: 127.0.0.1, adapter: {name: kv, config: {store_method: in_memory}}}}',
];

async function startPressable() {
  const load = { delayMs: 0 };
  const clock = new TurningClock();
  const gauge = { loopDelayMs: () => load.delayMs, heapShare: () => 0, stop: () => {} };
  const engine = await startHttpEngine('', { clock, gauge, workers: MODULES });
  return {
    ...engine,
    press(delayMs: number): void {
      load.delayMs = delayMs;
      clock.advance(1_000);
    },
    relax(): void {
      load.delayMs = 0;
      for (let second = 0; second < 6; second++) clock.advance(1_000);
    },
  };
}

const HELLO = { api_path: '/hello', http_method: 'GET' };
const pressureLines = (log: readonly string[]) => log.filter((line) => line.includes('pressure'));

test('[L1] [L3] shed: requests get 503 with Retry-After, jobs are accepted, and health is answered', async () => {
  await using engine = await startPressable();
  await using worker = await RawWorker.connect(engine.url);
  await worker.serve('hello', () => ({ body: 'hello' }));
  worker.send({ type: 'registertrigger', id: 't', trigger_type: 'http', function_id: 'hello', config: HELLO });
  await worker.settled();
  engine.press(300);
  const refused = await ask(engine, '/hello');
  expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
  expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'OVERLOADED' } });
  expect(await ask(engine, '/healthz')).toMatchObject({ status: 200 });
  expect(await ask(engine, '/readyz')).toMatchObject({ status: 200 });
  expect(await receiptOf(enqueue(worker, 'hello', {}))).toMatch(/^[\da-f-]{36}$/);
  engine.relax();
  expect(await ask(engine, '/hello')).toMatchObject({ status: 200 });
});

test('[L1] protect: connections and jobs are refused, and health is unhealthy', async () => {
  await using engine = await startPressable();
  await using worker = await RawWorker.connect(engine.url);
  engine.press(1_500);
  const [, , streams = ''] = engine.urls;
  expect(await statusOfUpgrade(engine.url)).toBe(503);
  expect(await statusOfUpgrade(`${streams}/stream/chat/room`)).toBe(503);
  const { error } = await enqueue(worker, 'later', {});
  expect(error).toMatchObject({ code: 'enqueue_error', reason: 'OVERLOADED' });
  expect(await ask(engine, '/readyz')).toMatchObject({ status: 503 });
  expect(await worker.call('engine::health::check')).toMatchObject({ result: { status: 'unhealthy' } });
  engine.relax();
  await using _late = await RawWorker.connect(engine.url);
  expect(await ask(engine, '/readyz')).toMatchObject({ status: 200 });
});

test('[L1] shed: a queue runs a quarter of its concurrency until the pressure ends', async () => {
  await using engine = await startPressable();
  await using worker = await RawWorker.connect(engine.url);
  await worker.register('slow');
  engine.press(300);
  for (let job = 0; job < 12; job++) await receiptOf(enqueue(worker, 'slow', { job }));
  const running = () => worker.frames.filter(({ type }) => type === 'invokefunction').length;
  await waitFor('two jobs run', () => running() === 2);
  expect(await statsOf(worker)).toMatchObject({ states: { running: 2, waiting: 10 } });
  engine.relax();
  await waitFor('eight jobs run', () => running() === 8);
});

test('[L2] a change of the pressure level is logged once, and shown in metrics, health and console', async () => {
  await using engine = await startPressable();
  await using worker = await RawWorker.connect(engine.url);
  for (const delayMs of [60, 80, 300, 400, 250]) engine.press(delayMs);
  expect(pressureLines(engine.log)).toEqual([
    expect.stringMatching(/WARN .*level=busy cause=event_loop_delay_ms value=60 limit=50/),
    expect.stringMatching(/WARN .*level=shed cause=event_loop_delay_ms value=300 limit=200/),
  ]);
  const { text } = await ask(engine, '/metrics');
  expect(text).toContain('svc_pressure_level{cause="event_loop_delay_ms",service_name="svc"} 2');
  const { result } = await worker.call('engine::health::check');
  expect(result).toMatchObject({
    status: 'degraded',
    components: { router: { details: { pressure: { level: 'shed', cause: { value: 250, limit: 200 } } } } },
  });
  expect((await askJson(engine, '/_console/v1/status')).body).toMatchObject({
    overload_level: 2,
    overload_reasons: ['event_loop_delay_ms is 250, over 200'],
  });
  engine.relax();
  expect(pressureLines(engine.log).at(-1)).toMatch(/INFO .*no longer under pressure level=normal/);
  expect((await ask(engine, '/metrics')).text).toContain('svc_pressure_level{cause="none",service_name="svc"} 0');
});

function statusOfUpgrade(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on('unexpected-response', (_request, { statusCode }) => {
      resolve(statusCode);
      socket.terminate();
    });
    socket.on('open', () => reject(new Error(`${url} admitted a connection`)));
    socket.on('error', () => {});
  });
}
