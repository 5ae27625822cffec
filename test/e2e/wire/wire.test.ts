// Connections and calls, frame by frame: what clients of other languages and versions send and rely on, and the
// published client of `iii` does not.

import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { within } from '../../support/wait-for.ts';

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const MIB = 1024 * 1024;

describe('a connection', () => {
  test('[wire 10.3] is greeted before anything else, with an id and a token of its own', async () => {
    await using engine = await startTestEngine();
    await using first = await RawWorker.open(engine.url);
    // Sent before the greeting is read: the greeting still comes first.
    first.send({ type: 'ping' });
    const greeting = await first.next('workerregistered');
    await first.next('pong');
    await using second = await RawWorker.connect(engine.url);
    expect(Object.keys(greeting)).toEqual(['type', 'worker_id', 'reattach_token']);
    expect(greeting.worker_id).toMatch(UUID_V4);
    expect(new Set([greeting.worker_id, greeting.reattach_token, second.workerId, second.reattachToken]).size).toBe(4);
  });

  test('[wire 10.5] gets a pong for every ping, on the telemetry path too', async () => {
    await using engine = await startTestEngine();
    for (const path of ['/', '/otel']) {
      await using worker = await RawWorker.open(engine.url, { path });
      for (let round = 0; round < 3; round++) {
        const pong = once(worker.socket, 'pong');
        worker.socket.ping(`round ${round}`);
        const [payload] = await within(2_000, 'a pong comes', pong);
        expect(String(payload)).toBe(`round ${round}`);
      }
    }
  });

  test('[wire 10.6] gets text frames only, one JSON object each, also for what it sent as binary', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.open(engine.url);
    const kinds: boolean[] = [];
    worker.socket.on('message', (_text, isBinary) => kinds.push(isBinary));
    await worker.next('workerregistered');
    worker.sendBinary(Buffer.from('{"type":"ping"}'));
    await worker.next('pong');
    await worker.call('engine::health::check');
    expect(kinds.length).toBeGreaterThanOrEqual(2);
    expect(kinds).not.toContain(true);
  });

  test('[wire 10.7] survives invalid messages, and gets no answer to them', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    const oddities = ['', ' \n', '{}', '[]', 'null', '"text"', '{"type":', '{"type":"hello"}', '{"type":7}'];
    for (const text of oddities) worker.sendText(text);
    for (const type of ['registerfunction', 'invokefunction', 'invocationresult']) worker.send({ type });
    worker.sendBinary(Buffer.from([1, 2, 3, 0xff]));
    await worker.settled();
    expect(worker.frames).toEqual([]);
    // All but the two blank ones are counted and logged.
    await expectCount(engine, oddities.length - 2 + 4, 'frames.refused');
  });

  test('[wire 2.1] may put type anywhere, add fields, and write null for absent fields', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    worker.sendText(
      '{"id":"py::one","request_format":null,"metadata":null,"message_type":"x","extra":{"a":1},"type":"registerfunction"}',
    );
    worker.sendText(
      '{"invocation_id":"c","action":null,"metadata":null,"traceparent":null,"function_id":"py::one","type":"invokefunction"}',
    );
    const call = await worker.next('invokefunction');
    expect(Object.keys(call).sort()).toEqual([
      'baggage',
      'data',
      'function_id',
      'invocation_id',
      'traceparent',
      'type',
    ]);
    expect(call.data).toBeNull();
    worker.sendText(
      `{"invocation_id":"${call.invocation_id}","error":null,"result":{"ok":true},"traceparent":null,"type":"invocationresult"}`,
    );
    expect(await worker.answerTo('c')).toEqual({
      type: 'invocationresult',
      invocation_id: 'c',
      function_id: 'py::one',
      result: { ok: true },
    });
  });
});

describe('a call', () => {
  test('[I1] is answered once: repeated, foreign and unknown results are dropped and counted', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using stranger = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    const id = caller.startCall('slow::one');
    const call = await worker.next('invokefunction');
    stranger.answer(call, { result: 'forged' });
    stranger.answer({ ...call, invocation_id: 'made up' }, { result: 'forged' });
    await stranger.settled();
    worker.answer(call, { result: 'true' });
    worker.answer(call, { result: 'again' });
    worker.answer(call, { error: { code: 'x', message: 'and again' } });
    await worker.settled();
    expect(await caller.answerTo(id)).toMatchObject({ result: 'true' });
    await caller.settled();
    expect(caller.frames).toEqual([]);
    await expectCount(engine, 4, 'invocations.late_results');
  });

  test('[I1] that cannot be read is answered, and so is one whose result cannot', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    const tooDeep = `${'['.repeat(129)}${']'.repeat(129)}`;
    await worker.register('deep::one');
    worker.sendText(`{"type":"invokefunction","invocation_id":"deep","function_id":"deep::one","data":${tooDeep}}`);
    expect(await worker.answerTo('deep')).toMatchObject({ error: { code: 'BAD_REQUEST' } });
    const id = worker.startCall('deep::one');
    const { invocation_id } = await worker.next('invokefunction');
    worker.sendText(`{"type":"invocationresult","invocation_id":"${invocation_id}","result":${tooDeep}}`);
    expect(await worker.answerTo(id)).toMatchObject({ error: { code: 'BAD_REQUEST' } });
    await worker.settled();
    expect(worker.frames).toEqual([]);
  });

  test('[wire 1.5] in a binary frame is relayed only if it is text: the executor could not read it', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.serve('say::it', (data) => data);
    const frame = (data: Buffer) =>
      Buffer.concat([
        Buffer.from('{"type":"invokefunction","invocation_id":"b","function_id":"say::it","data":"'),
        data,
        Buffer.from('"}'),
      ]);
    caller.sendBinary(frame(Buffer.from([0xff])));
    caller.sendBinary(frame(Buffer.from('é')));
    expect(await caller.answerTo('b')).toMatchObject({ result: 'é' });
    await expectCount(engine, 1, 'frames.refused');
    await worker.settled();
  });

  test('[wire 5.2] keeps its answer although two callers chose the same id', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using one = await RawWorker.connect(engine.url);
    await using two = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    const invoke = { type: 'invokefunction', invocation_id: 'same', function_id: 'slow::one' };
    one.send({ ...invoke, data: 'one' });
    two.send({ ...invoke, data: 'two' });
    const calls = [await worker.next('invokefunction'), await worker.next('invokefunction')];
    expect(calls[0]?.invocation_id).not.toBe(calls[1]?.invocation_id);
    for (const call of calls.reverse()) worker.answer(call, { result: call.data });
    expect(await one.answerTo('same')).toMatchObject({ result: 'one' });
    expect(await two.answerTo('same')).toMatchObject({ result: 'two' });
  });

  test('[I3] that names a timeout is answered with TIMEOUT by the engine, in time', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('slow::one');
    const startMs = performance.now();
    const answer = await caller.call('slow::one', {}, { timeout_ms: 150 });
    const waitedMs = performance.now() - startMs;
    expect(answer).toMatchObject({ error: { code: 'TIMEOUT', message: 'invocation timed out after 150ms' } });
    expect(waitedMs).toBeGreaterThanOrEqual(145);
    expect(waitedMs).toBeLessThan(1_150);
    worker.answer(await worker.next('invokefunction'), { result: 'late' });
    await worker.settled();
    await expectCount(engine, 1, 'invocations.late_results');
    for (const timeout_ms of [0, -1, 1.5, 3_600_001]) {
      expect(await caller.call('slow::one', {}, { timeout_ms })).toMatchObject({ error: { code: 'BAD_REQUEST' } });
    }
  });

  test('[wire 9] without id and action has no waiting caller, as the oldest clients mean it', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('mail::send');
    worker.send({ type: 'invokefunction', function_id: 'mail::send', data: { to: 'x' } });
    const call = await worker.next('invokefunction');
    expect(call).toMatchObject({ data: { to: 'x' }, invocation_id: expect.stringMatching(UUID_V4) });
    worker.answer(call, { result: 'unheard' });
    worker.send({ type: 'invokefunction', invocation_id: 'v', function_id: 'no::one', action: { type: 'void' } });
    await worker.settled();
    expect(worker.frames).toEqual([]);
  });

  test('[wire 10.8] whose error has a null stacktrace reaches Node clients in the form they can read', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('math::div');
    const errorFor = async (error: unknown): Promise<unknown> => {
      const id = worker.startCall('math::div');
      worker.answer(await worker.next('invokefunction'), { error });
      return (await worker.answerTo(id)).error;
    };
    const whole = { code: 'MY_CODE', message: 'no', stacktrace: 'at x', details: { more: [1] } };
    expect(await errorFor(whole)).toEqual(whole);
    expect(await errorFor({ code: 'MY_CODE', message: 'no', stacktrace: null })).toEqual({
      code: 'MY_CODE',
      message: 'no',
    });
    expect(await errorFor('only a text')).toEqual({ code: 'invocation_failed', message: 'only a text' });
  });

  test('[wire 3.4] to a namespace that does not exist finds nothing, and default is the one that does', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.serve('math::add', () => 5);
    const call = (namespace: unknown): Promise<Frame> => worker.call('math::add', {}, { namespace });
    expect(await call('default')).toMatchObject({ result: 5 });
    expect(await call(null)).toMatchObject({ result: 5 });
    expect(await call('other')).toMatchObject({ error: { code: 'function_not_found' } });
    expect(await call(' ')).toMatchObject({ error: { code: 'INVALID_NAMESPACE' } });
  });

  test('[wire 1.7] keeps its place among the other calls of its connection, large or small', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await using caller = await RawWorker.connect(engine.url);
    await worker.register('in::order');
    const sizes = [10, 3 * MIB, 20, 300 * 1024, 30, 5 * MIB, 40, 50];
    const ids = sizes.map((size, index) => caller.startCall('in::order', { index, text: 'x'.repeat(size) }));
    for (const [index, size] of sizes.entries()) {
      const call = await worker.next('invokefunction');
      const { index: arrived, text } = call.data as { index: number; text: string };
      expect([arrived, text.length]).toEqual([index, size]);
      worker.answer(call, { result: { index, text } });
    }
    for (const [index, id] of ids.entries()) expect(await caller.answerTo(id)).toMatchObject({ result: { index } });
  });

  test('[wire 1.7] that is large is not overtaken by the withdrawal of its function after it', async () => {
    await using engine = await startTestEngine();
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('own::one');
    const before = worker.startCall('own::one', 'x'.repeat(3 * MIB));
    worker.send({ type: 'unregisterfunction', id: 'own::one' });
    const behind = worker.startCall('own::one');
    worker.answer(await worker.next('invokefunction'), { result: 'in time' });
    expect(await worker.answerTo(behind)).toMatchObject({ error: { code: 'function_not_found' } });
    expect(await worker.answerTo(before)).toMatchObject({ result: 'in time' });
  });
});
