// How an engine stops: running calls finish, new ones are refused, and the drain ends in time.

import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { tryUpgrade } from '../../support/clients/upgrade.ts';
import { EngineProcess } from '../../support/engine/engine-process.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { within } from '../../support/wait-for.ts';

const MIB = 1024 * 1024;
const GOODBYE = { code: 1001, reason: 'the engine is shutting down' };

function drainingWithin(timeoutMs: number): string {
  return `drain_timeout_ms: ${timeoutMs}\n${ONE_PORT}`;
}

describe('an engine that drains', () => {
  test('[G1] [G2] lets a running call finish, returns its result, and closes both connections with 1001', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(10_000) });
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    const id = caller.startCall('slow::one', { x: 1 });
    const call = await worker.next('invokefunction');
    const drained = engine.drain();
    await Promise.all([worker.next('draining'), caller.next('draining')]);
    worker.answer(call, { result: { done: true } });
    expect(await caller.answerTo(id)).toMatchObject({ result: { done: true } });
    await drained;
    expect(await Promise.all([worker.closed, caller.closed])).toEqual([GOODBYE, GOODBYE]);
  });

  test('[G1] refuses new calls with SHUTTING_DOWN, and drops and counts new fire-and-forget calls', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(10_000) });
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    caller.startCall('slow::one');
    const running = await worker.next('invokefunction');
    const drained = engine.drain();
    await caller.next('draining');
    expect(await caller.call('slow::one')).toMatchObject({ error: { code: 'SHUTTING_DOWN' } });
    caller.send({ type: 'invokefunction', function_id: 'slow::one', action: { type: 'void' } });
    await caller.settled();
    await expectCount(engine, 1, 'invocations.void_dropped', 'SHUTTING_DOWN');
    await worker.settled();
    expect(worker.frames).toEqual([{ type: 'draining' }]);
    worker.answer(running);
    await drained;
  });

  test('[G2] lets a running handler make the calls that it needs to finish', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(10_000) });
    await using outer = await RawWorker.connect(engine.url);
    await using inner = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await outer.register('outer::one');
    await inner.serve('inner::one', () => 'needed');
    const id = caller.startCall('outer::one');
    const call = await outer.next('invokefunction');
    const drained = engine.drain();
    await outer.next('draining');
    const { result } = await outer.call('inner::one', {}, { baggage: call.baggage });
    outer.answer(call, { result });
    expect(await caller.answerTo(id)).toMatchObject({ result: 'needed' });
    await drained;
  });

  test('[G1] answers an open handshake with 503, and refuses new TCP connections', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(10_000) });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    worker.startCall('slow::one');
    const call = await worker.next('invokefunction');
    const handshake = connect(engine.port, '127.0.0.1');
    await once(handshake, 'connect');
    // The engine has accepted that connection when it answers a message that was sent later.
    await worker.settled();
    const drained = engine.drain();
    await worker.next('draining');
    handshake.write(
      `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    const [answer] = await once(handshake, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 503 [\s\S]*SHUTTING_DOWN: the engine is stopping$/);
    await expect(tryUpgrade(engine.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    worker.answer(call);
    await drained;
  });

  test('[G1] answers calls that still run after drain_timeout_ms with SHUTTING_DOWN, and stops', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(300) });
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('endless::one');
    const id = caller.startCall('endless::one');
    await worker.next('invokefunction');
    const startMs = performance.now();
    const drained = engine.drain();
    expect(await caller.answerTo(id)).toMatchObject({
      error: { code: 'SHUTTING_DOWN', message: expect.stringContaining('shutting down') },
    });
    await drained;
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(295);
    expect(await Promise.all([worker.closed, caller.closed])).toEqual([GOODBYE, GOODBYE]);
  });

  test('[I4] answers a running call with invocation_stopped when its worker is lost', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(10_000) });
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    const id = caller.startCall('slow::one');
    await worker.next('invokefunction');
    const drained = engine.drain();
    await worker.next('draining');
    worker.socket.terminate();
    expect(await caller.answerTo(id)).toMatchObject({ error: { code: 'invocation_stopped' } });
    await drained;
  });

  test('[G2] sends a large result completely before it closes the connection of a slow reader', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(10_000) });
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('big::one');
    const id = caller.startCall('big::one');
    const call = await worker.next('invokefunction');
    const drained = engine.drain();
    await Promise.all([worker.next('draining'), caller.next('draining')]);
    caller.socket.pause();
    worker.answer(call, { result: 'x'.repeat(12 * MIB) });
    // The engine has handled the answer of the worker. Only the reader has not received it.
    await worker.settled();
    caller.socket.resume();
    expect(String((await caller.answerTo(id)).result).length).toBe(12 * MIB);
    expect(await caller.closed).toEqual(GOODBYE);
    await drained;
  });

  test('[G1] does not wait for a client that never reads', async () => {
    await using engine = await startTestEngine({ yaml: drainingWithin(500) });
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('big::one');
    caller.startCall('big::one');
    caller.socket.pause();
    worker.answer(await worker.next('invokefunction'), { result: 'x'.repeat(12 * MIB) });
    await worker.settled();
    const startMs = performance.now();
    await within(5_500, 'the drain ends', engine.drain());
    // The engine gave the client some time.
    expect(performance.now() - startMs).toBeGreaterThan(1_000);
  });

  test('[R6] leaves no timer', async () => {
    const clock = new TurningClock();
    await using engine = await startTestEngine({ clock });
    await using worker = await RawWorker.connect(engine.url);
    await using telemetry = await RawWorker.open(engine.url, { path: '/otel' });
    await worker.call('engine::health::check');
    expect(clock.timerCount).toBeGreaterThan(0);
    await engine.drain();
    expect(clock.timerCount).toBe(0);
    expect(await telemetry.closed).toEqual(GOODBYE);
  });

  test('[G1] drains once however often it is asked to, and frees its port', async () => {
    const engine = await startTestEngine({ yaml: drainingWithin(1_000) });
    expect(engine.drain()).toBe(engine.drain());
    await engine.drain();
    const yaml = `workers: [{name: svc-worker-manager, config: {port: ${engine.port}}}]`;
    await using successor = await startTestEngine({ yaml });
    expect(successor.port).toBe(engine.port);
  });
});

describe('an engine process that gets a signal', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '[G1] ends with code 0 after %s when its running call has ended',
    async (signal) => {
      await using engine = await EngineProcess.start(drainingWithin(10_000));
      await using worker = await RawWorker.connect(engine.url);
      await using caller = await RawWorker.connect(engine.url);
      await worker.register('slow::one');
      const id = caller.startCall('slow::one');
      const call = await worker.next('invokefunction');
      engine.kill(signal);
      await worker.next('draining');
      worker.answer(call, { result: 'finished' });
      expect(await caller.answerTo(id)).toMatchObject({ result: 'finished' });
      expect(await engine.end(5_000)).toEqual({ code: 0, signal: null });
      expect(await caller.closed).toEqual(GOODBYE);
    },
  );

  test('[G1] ends with code 0 in time although a handler never ends and a client never reads', async () => {
    await using engine = await EngineProcess.start(drainingWithin(500));
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await using reader = await RawWorker.connect(engine.url);
    await worker.register('endless::one');
    await worker.register('big::one');
    reader.startCall('big::one');
    reader.socket.pause();
    worker.answer(await worker.next('invokefunction'), { result: 'x'.repeat(12 * MIB) });
    const id = caller.startCall('endless::one');
    await worker.next('invokefunction');
    engine.kill('SIGTERM');
    expect(await caller.answerTo(id)).toMatchObject({ error: { code: 'SHUTTING_DOWN' } });
    expect(await engine.end(5_500)).toEqual({ code: 0, signal: null });
  });

  test('[G1] ends with code 0 although a function of the engine waits for a worker that has left', async () => {
    await using engine = await EngineProcess.start(drainingWithin(700));
    await using provider = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    provider.send({ type: 'registertriggertype', id: 'silent', description: 'Never answers' });
    await provider.settled();
    caller.startCall('engine::register_trigger', { trigger_type: 'silent', function_id: 'a::b' });
    await provider.next('registertrigger');
    const gone = [provider, caller].map(async (worker) => {
      worker.close();
      await worker.closed;
    });
    await Promise.all(gone);
    engine.kill('SIGTERM');
    expect(await engine.end(5_700)).toEqual({ code: 0, signal: null });
  });

  test('[G1] ends at once with code 130 at the second signal', async () => {
    await using engine = await EngineProcess.start(drainingWithin(60_000));
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('endless::one');
    worker.startCall('endless::one');
    await worker.next('invokefunction');
    engine.kill('SIGTERM');
    await worker.next('draining');
    engine.kill('SIGTERM');
    expect(await engine.end(2_000)).toEqual({ code: 130, signal: null });
  });
});
