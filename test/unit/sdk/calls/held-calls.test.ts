import { describe, expect, test } from 'vitest';
import { Void } from '../../../../src/sdk/calls/actions.ts';
import { placesAt } from '../../../../src/sdk/calls/unsent-calls.ts';
import type { InternalOptions } from '../../../../src/sdk/internal.ts';
import { FakePlatform } from '../../../support/fakes/fake-platform.ts';
import { answerCall, startSdkWorker } from '../../../support/fakes/sdk-worker.ts';

test('[W6] calls of handlers have places that calls from outside of handlers never take', () => {
  expect([0, 1, 2, 3].map((depth) => placesAt(depth, 4_096))).toEqual([3_072, 3_840, 4_032, 4_080]);
  expect([0, 1, 6, 64].map((depth) => placesAt(depth, 64))).toEqual([48, 60, 64, 64]);
  expect([0, 1, 2].map((depth) => placesAt(depth, 1))).toEqual([1, 1, 1]);
});

describe.each(['binary', 'json'] as const)('over the %s form', (wire) => {
  /** A worker whose engine allows four unanswered calls, so three from outside of handlers. */
  async function connected(options: InternalOptions = {}, callsMax: number | undefined = 4) {
    const platform = new FakePlatform();
    const { svc } = startSdkWorker({ wire, ...options }, platform);
    return { platform, svc, socket: await platform.connect('w-1', callsMax) };
  }

  test('[W6] calls over the limit of the connection are held, and leave in order as others are answered', async () => {
    const { platform, svc, socket } = await connected();
    const calls = Array.from({ length: 6 }, (_, at) => svc.trigger({ function_id: 'a::b', payload: at }));
    await platform.settle();
    const sent = socket.take();
    expect(sent.map(({ data }) => data)).toEqual([0, 1, 2]);
    for (const { invocation_id, data } of sent.slice(0, 2)) answerCall(socket, invocation_id, { result: data });
    await platform.settle();
    const next = socket.take();
    expect(next.map(({ data }) => data)).toEqual([3, 4]);
    for (const { invocation_id, data } of [...sent.slice(2), ...next]) {
      answerCall(socket, invocation_id, { result: data });
    }
    await platform.settle();
    for (const { invocation_id, data } of socket.take()) answerCall(socket, invocation_id, { result: data });
    expect(await Promise.all(calls)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('[W6] an engine that reports no limit gets every call at once', async () => {
    const platform = new FakePlatform();
    const { svc } = startSdkWorker({ wire }, platform);
    const socket = await platform.connect();
    for (let at = 0; at < 5_000; at++) svc.trigger({ function_id: 'a::b' }).catch(() => {});
    await platform.settle();
    expect(socket.take()).toHaveLength(5_000);
  });

  test('[W6] a bulk leaves in parts, one in each turn, so that others are served between them', async () => {
    const { platform, svc, socket } = await connected({}, 65_536);
    for (let at = 0; at < 2_500; at++) svc.trigger({ function_id: 'a::b', payload: at }).catch(() => {});
    const parts = [socket.take().length];
    while (platform.clock.endTurn()) parts.push(socket.take().length);
    expect(parts.reduce((sum, size) => sum + size)).toBe(2_500);
    expect(parts.filter((size) => size > 0).length).toBeLessThanOrEqual(4);
    expect(Math.max(...parts)).toBe(1_024);
  });

  test('[W6] a held call is sent with the rest of its time, and ends at its deadline if it never leaves', async () => {
    const { platform, svc, socket } = await connected();
    for (let at = 0; at < 3; at++) svc.trigger({ function_id: 'slow::one' }).catch(() => {});
    const short = svc.trigger({ function_id: 'a::b', timeout_ms: 1_000 });
    const failure = expect(short).rejects.toMatchObject({
      code: 'TIMEOUT',
      message:
        'invocation timed out after 1000ms (a::b: too many calls are unanswered, ' +
        "the engine's in_flight_per_caller is 4)",
    });
    svc.trigger({ function_id: 'c::d', timeout_ms: 10_000 }).catch(() => {});
    await platform.pass(2_000);
    await failure;
    const [first] = socket.take();
    answerCall(socket, first?.invocation_id, {});
    await platform.settle();
    expect(socket.take()).toMatchObject([{ function_id: 'c::d', timeout_ms: 8_000 }]);
  });

  test('[W6] no call overtakes an earlier one, not even a Void call', async () => {
    const { platform, svc, socket } = await connected();
    for (let at = 0; at < 4; at++) svc.trigger({ function_id: 'a::b', payload: at }).catch(() => {});
    void svc.trigger({ function_id: 'a::b', payload: 'void', action: Void() });
    await platform.settle();
    const sent = socket.take();
    expect(sent.map(({ data }) => data)).toEqual([0, 1, 2]);
    for (const { invocation_id } of sent) answerCall(socket, invocation_id, {});
    await platform.settle();
    expect(socket.take().map(({ data }) => data)).toEqual([3, 'void']);
  });

  test('[W6] a call of a handler finds a place while calls from outside wait', async () => {
    const { platform, svc, socket } = await connected();
    svc.registerFunction('own::outer', () => svc.trigger({ function_id: 'own::inner' }));
    await platform.settle();
    socket.take();
    for (let at = 0; at < 10; at++) svc.trigger({ function_id: 'own::outer' }).catch(() => {});
    await platform.settle();
    expect(socket.take()).toHaveLength(3);
    const baggage = 'svc.depth=1';
    socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id: 'own::outer', data: null, baggage });
    await platform.settle();
    const [inner] = socket.take();
    expect(inner).toMatchObject({ function_id: 'own::inner' });
    answerCall(socket, inner?.invocation_id, { result: 'done' });
    await platform.settle();
    expect(socket.take()).toMatchObject([{ type: 'invocationresult', result: 'done' }]);
  });

  test('[W6] an aborted call keeps its place until the engine has answered it', async () => {
    const { platform, svc, socket } = await connected();
    const abort = new AbortController();
    const aborted = svc.trigger({ function_id: 'a::b', payload: 0, signal: abort.signal });
    for (let at = 1; at < 5; at++) svc.trigger({ function_id: 'a::b', payload: at }).catch(() => {});
    await platform.settle();
    const [first] = socket.take();
    const failure = expect(aborted).rejects.toMatchObject({ code: 'CANCELLED' });
    abort.abort();
    await failure;
    await platform.settle();
    expect(socket.take()).toEqual([]);
    answerCall(socket, first?.invocation_id, {});
    await platform.settle();
    expect(socket.take().map(({ data }) => data)).toEqual([3]);
  });

  test('[W6] an aborted call that was not sent is never sent', async () => {
    const { platform, svc, socket } = await connected();
    const abort = new AbortController();
    for (let at = 0; at < 3; at++) svc.trigger({ function_id: 'a::b', payload: at }).catch(() => {});
    const aborted = svc.trigger({ function_id: 'a::b', payload: 'aborted', signal: abort.signal });
    svc.trigger({ function_id: 'a::b', payload: 'later' }).catch(() => {});
    const failure = expect(aborted).rejects.toMatchObject({ code: 'CANCELLED' });
    abort.abort();
    await failure;
    await platform.settle();
    for (const { invocation_id } of socket.take()) answerCall(socket, invocation_id, {});
    await platform.settle();
    expect(socket.take().map(({ data }) => data)).toEqual(['later']);
  });

  test('[W4] a held Void call that is aborted or expires rejects nothing', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    const { platform, svc } = await connected();
    for (let at = 0; at < 4; at++) svc.trigger({ function_id: 'a::b' }).catch(() => {});
    const [abort, unused] = [new AbortController(), new AbortController()];
    void svc.trigger({ function_id: 'c::d', action: Void(), signal: abort.signal });
    void svc.trigger({ function_id: 'c::d', action: Void(), signal: unused.signal, timeout_ms: 100 });
    abort.abort();
    await platform.pass(200);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
  });

  test('[W4] held calls survive the loss of the connection, and sent ones fail', async () => {
    const { platform, svc, socket } = await connected();
    const sent = Array.from({ length: 3 }, () => svc.trigger({ function_id: 'a::b' }));
    svc.trigger({ function_id: 'c::d' }).catch(() => {});
    await platform.settle();
    const failures = sent.map((call) => expect(call).rejects.toMatchObject({ code: 'invocation_stopped' }));
    socket.drop();
    await Promise.all(failures);
    await platform.pass(15_000);
    const next = await platform.connect('w-2', 4);
    expect(next.take().map(({ type, function_id }) => function_id ?? type)).toEqual(['reattach', 'c::d']);
  });

  test('[SDK-7] calls are held while the engine does not read, and answers and results are still sent', async () => {
    const { platform, svc, socket } = await connected({}, 1_000);
    svc.registerFunction('a::b', () => 'done');
    socket.buffered = 17 * 1024 * 1024;
    const first = svc.trigger({ function_id: 'x::y' });
    await platform.settle();
    const [, call] = socket.take();
    svc.trigger({ function_id: 'held::one' }).catch(() => {});
    socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id: 'a::b', data: null });
    await platform.pass(1_000);
    expect(socket.take()).toMatchObject([{ type: 'invocationresult', result: 'done' }]);
    answerCall(socket, call?.invocation_id, { result: 1 });
    expect(await first).toBe(1);
    socket.buffered = 0;
    await platform.pass(50);
    expect(socket.take()).toMatchObject([{ function_id: 'held::one' }]);
  });

  test('[SDK-7] a call that the engine never reads ends at its deadline with the reason', async () => {
    const { platform, svc, socket } = await connected({}, 1_000);
    socket.buffered = 17 * 1024 * 1024;
    svc.trigger({ function_id: 'x::y' }).catch(() => {});
    await platform.settle();
    const failure = expect(svc.trigger({ function_id: 'held::one', timeout_ms: 500 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringContaining('the engine reads too slowly'),
    });
    await platform.pass(1_000);
    await failure;
  });
});
