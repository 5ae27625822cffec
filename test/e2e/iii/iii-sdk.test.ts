// The published client of `iii`, unmodified, against the engine: once in normal mode, once in drop-in mode. The wire
// protocol, section 10, lists what the client needs; triggers and reconnecting have files of their own.

import { InvocationError, TriggerAction } from 'iii-sdk';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const UUID_V4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
const MIB = 1024 * 1024;

// The client reports every connection on the console.
beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
});

describe.each([
  { mode: 'as it is', compat: '', isDropIn: false },
  { mode: 'in drop-in mode', compat: 'compat: iii\n', isDropIn: true },
])('the engine $mode', ({ compat, isDropIn }) => {
  const yaml = `${compat}drain_timeout_ms: 100\n${ONE_PORT}`;

  /** What a handler sees of an object that was sent. */
  const asDelivered = (payload: object) =>
    isDropIn ? { ...payload, _caller_worker_id: expect.stringMatching(UUID_V4) } : payload;

  test('[wire 10.1] [wire 10.26] a client connects and is listed with the facts it announces', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url, { workerName: 'calc', workerDescription: 'Adds numbers' });
    worker.sdk.registerFunction('math::add', async () => 0);
    await worker.ready();
    const listed = await waitFor('the worker is listed', async () => {
      const { workers } = await worker.sdk.trigger({ function_id: 'engine::workers::list', payload: {} });
      return workers.find((row: { name: string }) => row.name === 'calc');
    });
    expect(listed).toMatchObject({
      description: 'Adds numbers',
      runtime: 'node',
      version: '0.22.1',
      pid: process.pid,
      function_count: 1,
      functions: ['math::add'],
    });
  });

  test('[wire 10.18] a call reaches its handler and the result its caller', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url);
    await using caller = new IiiClient(engine.url);
    const seen = vi.fn();
    worker.sdk.registerFunction('math::add', async (input) => {
      seen(input);
      return { sum: input.x + input.y };
    });
    await worker.ready();
    expect(await caller.call('math::add', { x: 2, y: 3 })).toEqual({ sum: 5 });
    expect(seen.mock.calls).toEqual([[asDelivered({ x: 2, y: 3 })]]);
  });

  test('[wire 10.9] a handler gets null if the caller gave no payload', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url);
    worker.sdk.registerFunction('say::what', async (input) => ({ got: input }));
    expect(await worker.call('say::what')).toEqual({ got: null });
  });

  test('[wire 10.19] a handler that returns nothing is a success without a value', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url);
    worker.sdk.registerFunction('say::nothing', async () => undefined);
    worker.sdk.registerFunction('say::null', async () => null);
    expect(await worker.call('say::nothing', {})).toBeUndefined();
    expect(await worker.call('say::null', {})).toBeNull();
  });

  test('[wire 10.8] an error arrives with the code, message and stack of the handler that threw it', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url);
    worker.sdk.registerFunction('math::div', async () => {
      throw new RangeError('division by zero');
    });
    worker.sdk.registerFunction('math::text', async () => {
      throw 'only a text';
    });
    const error = await worker.call('math::div', {}).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InvocationError);
    expect(error).toMatchObject({
      code: 'invocation_failed',
      function_id: 'math::div',
      message: expect.stringContaining('division by zero'),
      stacktrace: expect.stringContaining('RangeError: division by zero\n    at '),
    });
    const plain = await worker.call('math::text', {}).catch((reason: unknown) => reason);
    expect(plain).toMatchObject({ code: 'invocation_failed', message: expect.stringContaining('only a text') });
    expect(plain).toHaveProperty('stacktrace', undefined);
  });

  test('[wire 10.23] an unknown function is refused at once, with its id in the message', async () => {
    await using engine = await startTestEngine({ yaml });
    await using caller = new IiiClient(engine.url);
    await expect(caller.call('math::pow', {})).rejects.toMatchObject({
      code: 'function_not_found',
      message: expect.stringContaining('Function math::pow not found'),
    });
  });

  test('[wire 10.20] [V1] a Void call is delivered and never answered, even without a worker', async () => {
    await using engine = await startTestEngine({ yaml });
    await using caller = new IiiClient(engine.url);
    const delivered = new Promise((resolve) =>
      caller.sdk.registerFunction('mail::send', async (mail) => resolve(mail)),
    );
    const action = TriggerAction.Void();
    await caller.ready();
    expect(await caller.sdk.trigger({ function_id: 'mail::unknown', payload: {}, action })).toBeUndefined();
    expect(await caller.sdk.trigger({ function_id: 'mail::send', payload: { to: 'x' }, action })).toBeUndefined();
    expect(await delivered).toEqual(asDelivered({ to: 'x' }));
    await expectCount(engine, 1, 'invocations.void_dropped', 'function_not_found');
  });

  test('[wire 10.21] an enqueue without a queue module is refused with enqueue_error', async () => {
    await using engine = await startTestEngine({ yaml });
    await using caller = new IiiClient(engine.url);
    const action = TriggerAction.Enqueue({ queue: 'payment' });
    await expect(caller.sdk.trigger({ function_id: 'pay::charge', payload: {}, action })).rejects.toMatchObject({
      code: 'enqueue_error',
      message: expect.stringContaining("Queue 'payment' not found"),
    });
  });

  test('[wire 10.22] metadata of any JSON reaches the handler in addition to the payload', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url);
    worker.sdk.registerFunction('say::meta', async (_input, metadata) => ({ metadata }));
    for (const metadata of [{ tenant: 'acme', nested: [1, null] }, 'text', 7, false]) {
      expect(await worker.call('say::meta', { x: 1 }, { metadata })).toEqual({ metadata });
    }
    expect(await worker.call('say::meta', { x: 1 })).toEqual({});
  });

  test('[wire 10.22] baggage and traceparent of a caller reach the executor, with the function id added', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('math::add');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    worker.startCall('math::add', {}, { traceparent, baggage: 'user=ann' });
    const call = await worker.next('invokefunction');
    const key = isDropIn ? 'iii.function.id' : 'svc.function.id';
    // The trace is the same; the span is one of the engine (PD-31).
    expect(call.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-01$/);
    expect(call).toMatchObject({ invocation_id: expect.stringMatching(UUID_V4) });
    expect(String(call.baggage).split(',').sort()).toEqual([`${key}=math%3A%3Aadd`, 'svc.depth=1', 'user=ann'].sort());
  });

  test('[wire 10.12] unregistering removes the own function and no other', async () => {
    await using engine = await startTestEngine({ yaml });
    await using first = new IiiClient(engine.url);
    await using second = new IiiClient(engine.url);
    const shared = first.sdk.registerFunction('shared::it', async () => 'first');
    second.sdk.registerFunction('shared::it', async () => 'second');
    const own = first.sdk.registerFunction('own::it', async () => 'own');
    await Promise.all([first.ready(), second.ready()]);
    shared.unregister();
    own.unregister();
    await first.ready();
    expect(await first.call('shared::it', {})).toBe('second');
    await expect(first.call('own::it', {})).rejects.toMatchObject({ code: 'function_not_found' });
  });

  test('[I6] workers on one id share its calls, and the id stays callable when one of them leaves', async () => {
    // A router prefers the workers that are connected to it.
    await using engine = await startTestEngine({ yaml, threads: 1 });
    await using caller = new IiiClient(engine.url);
    const leaver = new IiiClient(engine.url, { workerName: 'twin' });
    await using stayer = new IiiClient(engine.url, { workerName: 'twin' });
    leaver.sdk.registerFunction('who::am_i', async () => 'leaver');
    stayer.sdk.registerFunction('who::am_i', async () => 'stayer');
    await Promise.all([leaver.ready(), stayer.ready()]);
    const answers = [];
    for (let call = 0; call < 10; call++) answers.push(await caller.call('who::am_i', {}));
    expect(answers.filter((answer) => answer === 'leaver')).toHaveLength(5);
    expect(answers.filter((answer) => answer === 'stayer')).toHaveLength(5);
    await leaver.sdk.shutdown();
    await waitFor('the leaver is gone', async () => {
      const { worker } = await caller.sdk
        .trigger({ function_id: 'engine::workers::info', payload: { name: 'twin' } })
        .catch(() => ({ worker: undefined }));
      return worker;
    });
    for (let call = 0; call < 4; call++) expect(await caller.call('who::am_i', {})).toBe('stayer');
  });

  test('[wire 10.31] after its own timeout the client continues, and the late result does no harm', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url);
    let release: (answer: string) => void = () => {};
    const finished = new Promise<string>((resolve) => {
      release = resolve;
    });
    worker.sdk.registerFunction('slow::one', () => finished);
    worker.sdk.registerFunction('quick::one', async () => 'quick');
    await worker.ready();
    const late = worker.call('slow::one', {}, { timeoutMs: 30 });
    await expect(late).rejects.toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('after 30ms') });
    release('late');
    expect(await worker.call('quick::one', {})).toBe('quick');
  });

  test('[wire 10.35] a payload of 10 MiB passes both ways unchanged', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = new IiiClient(engine.url);
    await using caller = new IiiClient(engine.url);
    worker.sdk.registerFunction('big::echo', async (input) => ({ text: input.text, end: 'é' }));
    await worker.ready();
    const text = 'abcdefgh'.repeat((10 * MIB) / 8);
    const answer = await caller.sdk.trigger({ function_id: 'big::echo', payload: { text } });
    expect(answer.end).toBe('é');
    expect(answer.text === text).toBe(true);
  });

  test('[X19] odd keys and values arrive as they were sent and change nothing', async () => {
    await using engine = await startTestEngine({ yaml });
    await using worker = await RawWorker.connect(engine.url);
    await worker.register('say::it');
    const data =
      '{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}},"a":1.0,"n":12345678901234567890,"u":"\\ud800 \u{1f600}"}';
    worker.sendText(`{"type":"invokefunction","invocation_id":"c","function_id":"say::it","data":${data}}`);
    const arrived = new Promise<string>((resolve) => worker.socket.once('message', (text) => resolve(String(text))));
    expect(await arrived).toContain(isDropIn ? data.slice(1) : `"data":${data}`);
    expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
  });
});

test('[wire 10.7] a payload holds what the caller sent and nothing more', async () => {
  await using engine = await startTestEngine();
  await using worker = new IiiClient(engine.url);
  worker.sdk.registerFunction('say::keys', async (input) => Object.keys(input));
  expect(await worker.call('say::keys', { _caller_worker_id: 'made up' })).toEqual(['_caller_worker_id']);
  expect(await worker.call('say::keys', {})).toEqual([]);
});

test('[wire 5.1] in drop-in mode the caller id in a payload is true, whatever the caller wrote there', async () => {
  await using engine = await startTestEngine({ yaml: `compat: iii\n${ONE_PORT}` });
  await using worker = new IiiClient(engine.url);
  await using caller = await RawWorker.connect(engine.url);
  worker.sdk.registerFunction('say::caller', async (input) => input._caller_worker_id);
  worker.sdk.registerFunction('say::list', async (input) => input);
  await worker.ready();
  const forged = await caller.call('say::caller', { _caller_worker_id: 'another worker' });
  expect(forged.result).toBe(caller.workerId);
  caller.sendText(
    '{"type":"invokefunction","invocation_id":"e","function_id":"say::caller","data":{"\\u005fcaller_worker_id":"x"}}',
  );
  expect((await caller.answerTo('e')).result).toBe(caller.workerId);
  expect((await caller.call('say::list', ['no object'])).result).toEqual(['no object']);
});
