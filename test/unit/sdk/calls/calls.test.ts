import { describe, expect, test } from 'vitest';
import { Enqueue, Void } from '../../../../src/sdk/calls/actions.ts';
import type { InternalOptions } from '../../../../src/sdk/internal.ts';
import type { SvcWorker } from '../../../../src/sdk/worker/svc-worker.ts';
import { answerCall, connectSdkWorker, makeCall } from '../../../support/fakes/sdk-worker.ts';

describe.each(['binary', 'json'] as const)('over the %s form', (wire) => {
  const connected = (options: InternalOptions = {}) => connectSdkWorker({ wire, ...options });

  describe('a call', () => {
    test('[I1] is sent with its deadline and answered with its result', async () => {
      const { platform, svc, socket } = await connected();
      const { promise, frame } = await makeCall(platform, svc, {
        function_id: 'math::add',
        payload: { x: 1 },
        metadata: [1],
      });
      expect(frame).toEqual({
        type: 'invokefunction',
        invocation_id: expect.any(String),
        function_id: 'math::add',
        timeout_ms: 30_000,
        metadata: [1],
        data: { x: 1 },
      });
      answerCall(socket, frame?.invocation_id, { result: { sum: 3 } });
      expect(await promise).toEqual({ sum: 3 });
    });

    test('[SDK-1] takes the id and the payload as arguments, and both spellings of its options', async () => {
      const { platform, svc, socket } = await connected();
      const sent = async (call: () => Promise<unknown>) => {
        void call().catch(() => {});
        await platform.settle();
        return socket.take();
      };
      const wanted = [{ function_id: 'math::add', data: { x: 1 }, timeout_ms: 500 }];
      expect(await sent(() => svc.trigger('math::add', { x: 1 }, { timeout_ms: 500 }))).toMatchObject(wanted);
      expect(await sent(() => svc.trigger({ id: 'math::add' }, { x: 1 }, { timeoutMs: 500 }))).toMatchObject(wanted);
      const request = { functionId: 'math::add', payload: { x: 1 }, timeoutMs: 500 };
      expect(await sent(() => svc.trigger(request))).toMatchObject(wanted);
    });

    test('[I1] resolves to undefined without a result, and to null with a result of null', async () => {
      const { platform, svc, socket } = await connected();
      const first = await makeCall(platform, svc, { function_id: 'a::b' });
      expect(first.frame).not.toHaveProperty('data');
      answerCall(socket, first.frame?.invocation_id, {});
      expect(await first.promise).toBeUndefined();
      const second = await makeCall(platform, svc, { function_id: 'a::b', payload: null });
      expect(second.frame).toHaveProperty('data', null);
      answerCall(socket, second.frame?.invocation_id, { result: null });
      expect(await second.promise).toBeNull();
    });

    test('[I1] is answered once, and late, repeated and unknown answers are ignored', async () => {
      const { platform, svc, socket } = await connected();
      const first = await makeCall(platform, svc, { function_id: 'a::b' });
      const second = await makeCall(platform, svc, { function_id: 'a::b' });
      answerCall(socket, first.frame?.invocation_id, { result: 1 });
      answerCall(socket, first.frame?.invocation_id, { result: 2 });
      answerCall(socket, 'not ours', { result: 3 });
      answerCall(socket, '', { result: 4 });
      answerCall(socket, second.frame?.invocation_id, { error: { code: 'X', message: 'failed' }, result: 5 });
      expect(await first.promise).toBe(1);
      await expect(second.promise).rejects.toMatchObject({ code: 'X' });
    });

    test('[SDK-7] all calls of one turn leave in one write', async () => {
      const { platform, svc, socket } = await connected();
      for (let at = 0; at < 20; at++) void svc.trigger({ function_id: 'a::b', payload: at }).catch(() => {});
      expect(socket.writes).toBe(0);
      await platform.settle();
      expect(socket.writes).toBe(1);
      expect(socket.take().map(({ data }) => data)).toEqual(Array.from({ length: 20 }, (_, at) => at));
    });

    test('[SDK-7] a batch that grows large does not wait for the end of the turn', async () => {
      const { platform, svc, socket } = await connected();
      for (let at = 0; at < 20; at++) {
        void svc.trigger({ function_id: 'a::b', payload: 'x'.repeat(10_000) }).catch(() => {});
      }
      expect(socket.writes).toBe(2);
      await platform.settle();
      expect(socket.take()).toHaveLength(20);
    });

    test('[SDK-1] Enqueue sends its action and is answered with the receipt', async () => {
      const { platform, svc, socket } = await connected();
      const action = Enqueue({ queue: 'mail', idempotency_key: 'k' });
      const { promise, frame } = await makeCall(platform, svc, { function_id: 'mail::send', payload: 1, action });
      expect(frame).toMatchObject({ action: { type: 'enqueue', queue: 'mail', idempotency_key: 'k' } });
      answerCall(socket, frame?.invocation_id, { result: { messageReceiptId: 'r-1' } });
      expect(await promise).toEqual({ messageReceiptId: 'r-1', receiptId: 'r-1' });
    });

    test('[SDK-1] Void has no id and resolves when it is handed over', async () => {
      const { platform, svc, socket } = await connected();
      expect(await svc.trigger({ function_id: 'a::b', payload: 1, action: Void() })).toBeUndefined();
      await platform.settle();
      expect(socket.take()).toEqual([
        { type: 'invokefunction', function_id: 'a::b', timeout_ms: 30_000, action: { type: 'void' }, data: 1 },
      ]);
    });

    test('[SDK-1] a registered function is a valid target', async () => {
      const { platform, svc, socket } = await connected();
      const add = svc.registerFunction('math::add', (x: number) => x);
      void add.trigger(1).catch(() => {});
      void add.trigger(2, { timeout_ms: 7 }).catch(() => {});
      void svc.trigger({ function_id: add, payload: 3 }).catch(() => {});
      await platform.settle();
      const calls = socket.takeType('invokefunction');
      expect(calls.map(({ function_id, data, timeout_ms }) => [function_id, data, timeout_ms])).toEqual([
        ['math::add', 1, 30_000],
        ['math::add', 2, 7],
        ['math::add', 3, 30_000],
      ]);
    });
  });

  describe('an invalid call', () => {
    test('[SDK-6] rejects at once with the field, the value and the range, and is not sent', async () => {
      const { platform, svc, socket } = await connected({ frame_bytes_max: 2_000 });
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      const wrong: [request: Parameters<SvcWorker['trigger']>[0], code: string, message: string][] = [
        [{ function_id: '' }, 'INVALID_ARGUMENTS', 'function_id is ""'],
        [
          { function_id: 'a::b', timeout_ms: 0 },
          'INVALID_ARGUMENTS',
          'a::b: timeout_ms: 0, expected a whole number from 1',
        ],
        [{ function_id: 'a::b', timeout_ms: 3_600_001 }, 'INVALID_ARGUMENTS', 'to 3600000'],
        [{ function_id: 'a::b', payload: cycle }, 'BAD_REQUEST', 'a::b: the payload cannot be sent as JSON'],
        [{ function_id: 'a::b', metadata: 1n }, 'BAD_REQUEST', 'a::b: the metadata cannot be sent as JSON'],
        [{ function_id: 'a::b', payload: 'x'.repeat(2_000) }, 'PAYLOAD_TOO_LARGE', 'frame_bytes_max is 2000'],
        [{ function_id: 'a::b', retry: { attempts: 0, backoff_ms: 1 } }, 'INVALID_ARGUMENTS', 'retry.attempts: 0'],
        [{ function_id: 'a::b', retry: { attempts: 2, backoff_ms: -1 } }, 'INVALID_ARGUMENTS', 'retry.backoff_ms: -1'],
      ];
      for (const [request, code, message] of wrong) {
        await expect(svc.trigger(request)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
      }
      await platform.settle();
      expect(socket.take()).toEqual([]);
    });
  });

  describe('deadlines of calls', () => {
    test('[I3] the engine ends a call at its deadline, and the SDK only if the engine does not answer', async () => {
      const { platform, svc } = await connected();
      const { promise } = await makeCall(platform, svc, { function_id: 'a::b', timeout_ms: 1_000 });
      let settled = false;
      void promise.catch(() => {}).then(() => (settled = true));
      await platform.pass(2_000);
      expect(settled).toBe(false);
      await platform.pass(600);
      await expect(promise).rejects.toMatchObject({
        code: 'TIMEOUT',
        function_id: 'a::b',
        message: 'invocation timed out after 1000ms (a::b: the engine did not answer)',
      });
    });

    test('[I3] a worker may set another default for all its calls', async () => {
      const { platform, svc } = await connected({ timeout_ms: 5_000 });
      const { frame } = await makeCall(platform, svc, { function_id: 'a::b' });
      expect(frame).toMatchObject({ timeout_ms: 5_000 });
    });

    test('[SDK-8] an answered call leaves no timer, for any deadline', async () => {
      const { platform, svc, socket } = await connected();
      const timers = platform.clock.timerCount;
      const { promise, frame } = await makeCall(platform, svc, { function_id: 'a::b', timeout_ms: 3_600_000 });
      expect(platform.clock.timerCount).toBe(timers + 1);
      answerCall(socket, frame?.invocation_id, { result: 1 });
      await promise;
      await platform.pass(50);
      expect(platform.clock.timerCount).toBe(timers);
    });

    test('[I1] an answer after the deadline is ignored', async () => {
      const { platform, svc, socket } = await connected();
      const { promise, frame } = await makeCall(platform, svc, { function_id: 'a::b', timeout_ms: 100 });
      await platform.pass(5_000);
      answerCall(socket, frame?.invocation_id, { result: 1 });
      await expect(promise).rejects.toMatchObject({ code: 'TIMEOUT' });
    });

    test('[SDK-6] an aborted signal ends the wait, before and during a call', async () => {
      const { platform, svc, socket } = await connected();
      const early = AbortSignal.abort('too late');
      await expect(svc.trigger({ function_id: 'a::b', signal: early })).rejects.toMatchObject({
        code: 'CANCELLED',
        cause: 'too late',
      });
      const abort = new AbortController();
      const { promise } = await makeCall(platform, svc, { function_id: 'a::b', signal: abort.signal });
      abort.abort('enough');
      await expect(promise).rejects.toMatchObject({ code: 'CANCELLED', cause: 'enough', function_id: 'a::b' });
      const late = new AbortController();
      const done = await makeCall(platform, svc, { function_id: 'a::b', signal: late.signal });
      answerCall(socket, done.frame?.invocation_id, { result: 1 });
      late.abort();
      expect(await done.promise).toBe(1);
    });
  });

  describe('the error of a call', () => {
    test('[SDK-6] has the stack of the caller, although none was recorded when the call was made', async () => {
      const { platform, svc, socket } = await connected();
      async function placeOrder(): Promise<unknown> {
        return await svc.trigger({ function_id: 'stock::take' });
      }
      async function failWith(end: (invocationId: unknown) => void): Promise<Error> {
        const order = placeOrder();
        const caught = order.then(
          () => new Error('did not fail'),
          (error: Error) => error,
        );
        await platform.settle();
        end(socket.take()[0]?.invocation_id);
        await platform.pass(60_000);
        return caught;
      }
      const byAnswer = await failWith((id) =>
        answerCall(socket, id, { error: { code: 'NO', message: 'no', stacktrace: 'Error: no\n    at remote.js:1:1' } }),
      );
      expect(byAnswer.stack).toMatch(/^SvcError: no\n[\s\S]*at (async )?placeOrder/);
      expect(byAnswer.stack).not.toContain('remote.js');
      expect(byAnswer).toMatchObject({ remote: { stack: expect.stringContaining('remote.js') } });
      const byLoss = await failWith(() => socket.drop());
      expect(byLoss.stack).toMatch(/at (async )?placeOrder/);
    });

    // The binary form has no field for it: there the error names the trace in which the call was made.
    test.runIf(wire === 'json')('[SDK-6] has the trace under which the engine ran the call', async () => {
      const { platform, svc, socket } = await connected();
      const { promise, frame } = await makeCall(platform, svc, { function_id: 'a::b' });
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      answerCall(socket, frame?.invocation_id, { error: { code: 'X', message: 'x' }, traceparent });
      await expect(promise).rejects.toMatchObject({
        trace_id: '0af7651916cd43dd8448eb211c80319c',
        function_id: 'a::b',
      });
    });
  });
});
