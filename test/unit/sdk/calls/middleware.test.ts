import { describe, expect, test } from 'vitest';
import { Void } from '../../../../src/sdk/calls/actions.ts';
import { SvcError } from '../../../../src/sdk/calls/errors.ts';
import { connectSdkWorker } from '../../../support/fakes/sdk-worker.ts';

async function connected() {
  const { platform, svc, socket } = await connectSdkWorker();
  /** Answers the next call on the wire, and returns it. */
  const answerNext = async (rest: object) => {
    await platform.settle();
    const [frame, ...more] = socket.takeType('invokefunction');
    expect(more).toEqual([]);
    socket.say({ type: 'invocationresult', invocation_id: frame?.invocation_id, ...rest });
    await platform.settle();
    return frame;
  };
  const invoke = async (function_id: string, data: unknown) => {
    await platform.settle();
    socket.take();
    socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id, data, baggage: 'tenant=acme' });
    await platform.settle();
    return socket.take();
  };
  return { platform, svc, socket, answerNext, invoke };
}

describe('middleware', () => {
  test('[SDK-12] runs around handlers and outgoing calls, the first one outermost', async () => {
    const { svc, answerNext, invoke } = await connected();
    const steps: string[] = [];
    for (const name of ['outer', 'inner']) {
      svc.use(async (call, next) => {
        steps.push(`${name} ${call.direction} ${call.function_id} begins`);
        const answer = await next();
        steps.push(`${name} got ${answer}`);
        return answer;
      });
    }
    svc.registerFunction('own::double', (n: number) => 2 * n);
    expect(await invoke('own::double', 2)).toMatchObject([{ result: 4 }]);
    const call = svc.trigger({ function_id: 'a::b' });
    await answerNext({ result: 7 });
    expect(await call).toBe(7);
    expect(steps).toEqual([
      'outer incoming own::double begins',
      'inner incoming own::double begins',
      'inner got 4',
      'outer got 4',
      'outer outgoing a::b begins',
      'inner outgoing a::b begins',
      'inner got 7',
      'outer got 7',
    ]);
  });

  test('[SDK-12] may change payload and result, or refuse, and schemas check the changed payload', async () => {
    const { svc, answerNext, invoke } = await connected();
    svc.use(async (call, next) => {
      if (call.payload === 'forbidden') throw new SvcError('NO_TENANT', 'no');
      call.payload = Number(call.payload);
      if (call.direction === 'outgoing') call.metadata = { stamped: call.metadata };
      return `answer: ${await next()}`;
    });
    svc.registerFunction({ id: 'own::double', input: { type: 'number' } }, (n: number) => 2 * n);
    expect(await invoke('own::double', '4')).toMatchObject([{ result: 'answer: 8' }]);
    expect(await invoke('own::double', 'forbidden')).toMatchObject([{ error: { code: 'NO_TENANT' } }]);
    const call = svc.trigger({ function_id: 'a::b', payload: '5', metadata: 'm' });
    expect(await answerNext({ result: 1 })).toMatchObject({ data: 5, metadata: { stamped: 'm' } });
    expect(await call).toBe('answer: 1');
    await expect(svc.trigger({ function_id: 'a::b', payload: 'forbidden' })).rejects.toMatchObject({
      code: 'NO_TENANT',
    });
  });

  test('[SDK-12] sees the context of a handler and the action of a call', async () => {
    const { platform, svc, socket, invoke } = await connected();
    const seen: unknown[] = [];
    svc.use((call, next) => {
      seen.push(call.direction === 'incoming' ? call.context.baggage.get('tenant') : call.action);
      return next();
    });
    svc.registerFunction('own::one', () => 1);
    await invoke('own::one', null);
    await svc.trigger({ function_id: 'a::b', action: Void() });
    await platform.settle();
    expect(socket.take()).toMatchObject([{ action: { type: 'void' } }]);
    expect(seen).toEqual(['acme', { type: 'void' }]);
  });

  test('[SDK-12] may repeat a call by itself', async () => {
    const { svc, answerNext } = await connected();
    svc.use(async (_call, next) => {
      try {
        return await next();
      } catch {
        return next();
      }
    });
    const call = svc.trigger({ function_id: 'a::b' });
    await answerNext({ error: { code: 'X', message: 'first' } });
    await answerNext({ result: 'second' });
    expect(await call).toBe('second');
  });

  test('[SDK-12] does not run for calls of the SDK itself', async () => {
    const { platform, svc, socket } = await connected();
    const seen: string[] = [];
    svc.use((call, next) => {
      seen.push(call.function_id);
      return next();
    });
    void svc
      .registerFunction('a::b', () => 1)
      .ready()
      .catch(() => {});
    await platform.settle();
    expect(socket.takeType('invokefunction')).toHaveLength(1);
    expect(seen).toEqual([]);
  });
});

describe('retry', () => {
  const retry = { attempts: 3, backoff_ms: 100 };
  const full = { error: { code: 'OVERLOADED', message: 'full' } };

  test('[SDK-12] repeats a call that was not executed, with doubled pauses, up to the limit', async () => {
    const { platform, svc, socket, answerNext } = await connected();
    platform.nextRandom = 1;
    const call = svc.trigger({ function_id: 'a::b', payload: 1, retry });
    const failure = expect(call).rejects.toMatchObject({ code: 'OVERLOADED' });
    await answerNext(full);
    await platform.pass(99);
    expect(socket.take()).toEqual([]);
    await platform.pass(1);
    await answerNext(full);
    await platform.pass(199);
    expect(socket.take()).toEqual([]);
    await platform.pass(1);
    expect(await answerNext(full)).toMatchObject({ data: 1, timeout_ms: 29_700 });
    await failure;
    await platform.pass(60_000);
    expect(socket.take()).toEqual([]);
  });

  test('[SDK-12] ends with the first success', async () => {
    const { platform, svc, answerNext } = await connected();
    const call = svc.trigger({ function_id: 'a::b', retry });
    await answerNext(full);
    await platform.pass(100);
    await answerNext({ result: 'ok' });
    expect(await call).toBe('ok');
  });

  test.each(['invocation_failed', 'invocation_stopped', 'TIMEOUT', 'enqueue_error', 'OWN_CODE'])(
    '[SDK-12] never repeats after %s, because the call may have taken effect',
    async (code) => {
      const { platform, svc, socket, answerNext } = await connected();
      const call = svc.trigger({ function_id: 'a::b', retry });
      const failure = expect(call).rejects.toMatchObject({ code });
      await answerNext({ error: { code, message: 'x' } });
      await failure;
      await platform.pass(60_000);
      expect(socket.take()).toEqual([]);
    },
  );

  test('[SDK-12] does not exceed the deadline of the call', async () => {
    const { svc, answerNext } = await connected();
    const call = svc.trigger({ function_id: 'a::b', timeout_ms: 1_000, retry: { attempts: 5, backoff_ms: 2_000 } });
    const failure = expect(call).rejects.toMatchObject({ code: 'OVERLOADED' });
    await answerNext(full);
    await failure;
  });

  test('[SDK-12] stops pausing when the call is cancelled', async () => {
    const { platform, svc, socket, answerNext } = await connected();
    const abort = new AbortController();
    const call = svc.trigger({ function_id: 'a::b', retry: { attempts: 5, backoff_ms: 2_000 }, signal: abort.signal });
    const failure = expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
    await answerNext(full);
    abort.abort();
    await failure;
    await platform.pass(5_000);
    expect(socket.take()).toEqual([]);
  });

  test('[SDK-12] runs inside the middleware, which sees one call', async () => {
    const { platform, svc, answerNext } = await connected();
    let seen = 0;
    svc.use((_call, next) => {
      seen++;
      return next();
    });
    const call = svc.trigger({ function_id: 'a::b', retry });
    await answerNext(full);
    await platform.pass(100);
    await answerNext({ result: 1 });
    await call;
    expect(seen).toBe(1);
  });
});
