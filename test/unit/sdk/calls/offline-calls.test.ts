import { describe, expect, test } from 'vitest';
import { Void } from '../../../../src/sdk/calls/actions.ts';
import type { InternalOptions } from '../../../../src/sdk/internal.ts';
import { answerCall, connectSdkWorker, makeCall, startSdkWorker } from '../../../support/fakes/sdk-worker.ts';

describe.each(['binary', 'json'] as const)('over the %s form', (wire) => {
  const setUp = (options: InternalOptions = {}) => startSdkWorker({ wire, ...options });
  const connected = (options: InternalOptions = {}) => connectSdkWorker({ wire, ...options });

  describe('calls without a connection', () => {
    test('[W4] wait, and leave in order after the registrations, with the rest of their time', async () => {
      const { platform, svc } = setUp({ announce: true });
      svc.registerFunction('own::one', () => 1);
      const first = svc.trigger({ function_id: 'a::b', payload: 1, timeout_ms: 10_000 });
      const payload = { now: 'as it was' };
      expect(await svc.trigger({ function_id: 'c::d', payload, action: Void() })).toBeUndefined();
      payload.now = 'changed later';
      await platform.pass(4_000);
      const socket = await platform.connect();
      const [announcement, registration, call1, call2] = socket.take();
      expect(announcement).toMatchObject({ function_id: 'engine::workers::register' });
      expect(registration).toMatchObject({ type: 'registerfunction', id: 'own::one' });
      expect(call1).toMatchObject({ function_id: 'a::b', data: 1, timeout_ms: 6_000 });
      expect(call2).toMatchObject({ function_id: 'c::d', data: { now: 'as it was' }, action: { type: 'void' } });
      answerCall(socket, call1?.invocation_id, { result: 'came through' });
      expect(await first).toBe('came through');
    });

    test('[I3] have their deadline kept by the engine once they are sent', async () => {
      const { platform, svc } = setUp();
      const call = svc.trigger({ function_id: 'a::b', timeout_ms: 10_000 });
      let settled = false;
      const failure = call.catch((error) => {
        settled = true;
        return error;
      });
      await platform.pass(4_000);
      await platform.connect();
      await platform.pass(6_500);
      expect(settled).toBe(false);
      await platform.pass(1_100);
      expect(await failure).toMatchObject({
        code: 'TIMEOUT',
        message: expect.stringContaining('the engine did not answer'),
      });
    });

    test('[W4] fail at their own deadline, and are not sent afterwards', async () => {
      const { platform, svc } = setUp();
      const call = svc.trigger({ function_id: 'a::b', timeout_ms: 1_000 });
      const failure = expect(call).rejects.toMatchObject({
        code: 'TIMEOUT',
        message: 'invocation timed out after 1000ms (a::b: there is no connection to the engine)',
      });
      void svc.trigger({ function_id: 'c::d', timeout_ms: 1_000, action: Void() });
      await platform.pass(1_100);
      await failure;
      const socket = await platform.connect();
      expect(socket.take()).toEqual([]);
      expect(platform.logs.at(-1)?.message).toBe('dropped a Void call to c::d: there is no connection to the engine');
    });

    test('[W4] are refused with the name of the limit when they fill unsent_bytes_max, counted in bytes', async () => {
      const { platform, svc } = setUp({ unsent_bytes_max: 16 * 1024 * 1024 });
      const payload = '€'.repeat(1024 * 1024);
      for (let at = 0; at < 5; at++) svc.trigger({ function_id: 'a::b', payload }).catch(() => {});
      await expect(svc.trigger({ function_id: 'a::b', payload })).rejects.toMatchObject({
        code: 'OVERLOADED',
        retryable: true,
        message: 'a::b: there is no connection to the engine, and the calls that wait fill unsent_bytes_max, 16777216',
      });
      svc.trigger({ function_id: 'a::b', payload: 'small' }).catch(() => {});
      const socket = await platform.connect();
      expect(socket.take()).toHaveLength(6);
    });

    test('[W4] are all sent when there were ten thousand of them', async () => {
      const { platform, svc } = setUp();
      for (let at = 0; at < 10_000; at++) svc.trigger({ function_id: 'a::b', payload: at }).catch(() => {});
      const socket = await platform.connect();
      expect(socket.take().map(({ data }) => data)).toEqual(Array.from({ length: 10_000 }, (_, at) => at));
    });

    test('[W4] free their bytes when they end', async () => {
      const { platform, svc } = setUp({ unsent_bytes_max: 16 * 1024 * 1024 });
      const payload = 'x'.repeat(5 * 1024 * 1024);
      const abort = new AbortController();
      for (let at = 0; at < 3; at++)
        svc.trigger({ function_id: 'a::b', payload, signal: abort.signal }).catch(() => {});
      await expect(svc.trigger({ function_id: 'a::b', payload })).rejects.toMatchObject({ code: 'OVERLOADED' });
      abort.abort();
      for (let at = 0; at < 4; at++) svc.trigger({ function_id: 'c::d', payload }).catch(() => {});
      const socket = await platform.connect();
      expect(socket.take().map(({ function_id }) => function_id)).toEqual(['c::d', 'c::d', 'c::d']);
    });

    test('[W4] free their bytes when their deadline passes', async () => {
      const { platform, svc } = setUp({ unsent_bytes_max: 2_048 });
      for (let at = 0; at < 3; at++) svc.trigger({ function_id: 'a::b', timeout_ms: 100 }).catch(() => {});
      await expect(svc.trigger({ function_id: 'x::y' })).rejects.toMatchObject({ code: 'OVERLOADED' });
      await platform.pass(200);
      svc.trigger({ function_id: 'x::y' }).catch(() => {});
      const socket = await platform.connect();
      expect(socket.take().map(({ function_id }) => function_id)).toEqual(['x::y']);
    });
  });

  describe('the loss of a connection', () => {
    test('[W4] fails the calls that were sent on it, because their effect is unknown, and never sends them again', async () => {
      const { platform, svc, socket } = await connected();
      const sent = svc.trigger({ function_id: 'a::b' });
      await platform.settle();
      const gathered = svc.trigger({ function_id: 'c::d' });
      const failures = [sent, gathered].map((promise) =>
        expect(promise).rejects.toMatchObject({
          code: 'invocation_stopped',
          retryable: false,
          message: expect.stringContaining('whether the call took effect is unknown'),
        }),
      );
      socket.drop();
      await Promise.all(failures);
      await platform.pass(15_000);
      const next = await platform.connect('w-2');
      expect(next.take().map(({ type }) => type)).toEqual(['reattach']);
    });

    test('[W4] does not free the ids of its calls, so that no answer reaches the wrong caller', async () => {
      const { platform, svc, socket } = await connected();
      const before = await makeCall(platform, svc, { function_id: 'a::b' });
      socket.drop();
      await platform.pass(15_000);
      const next = await platform.connect('w-2');
      next.take();
      const after = await makeCall(platform, svc, { function_id: 'a::b' });
      expect(after.frame?.invocation_id).not.toBe(before.frame?.invocation_id);
      answerCall(next, before.frame?.invocation_id, { result: 'old' });
      answerCall(next, after.frame?.invocation_id, { result: 'new' });
      expect(await after.promise).toBe('new');
    });
  });
});
