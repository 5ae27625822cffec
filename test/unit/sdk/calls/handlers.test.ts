import { describe, expect, test } from 'vitest';
import { SvcError } from '../../../../src/sdk/calls/errors.ts';
import type { StandardSchema } from '../../../../src/sdk/functions/schema.ts';
import type { InternalOptions } from '../../../../src/sdk/internal.ts';
import type { HandlerContext } from '../../../../src/sdk/worker/handler.ts';
import type { FakePlatform, FakeSocket } from '../../../support/fakes/fake-platform.ts';
import { connectSdkWorker } from '../../../support/fakes/sdk-worker.ts';

describe.each(['binary', 'json'] as const)('over the %s form', (wire) => {
  const connected = (options: InternalOptions = {}) => connectSdkWorker({ wire, worker_name: 'w', ...options });

  let lastInvocation = 0;

  /** Hands a call to the worker, lets it run, and returns all that the worker sent. */
  async function invoke(platform: FakePlatform, function_id: string, rest: object = {}) {
    const { socket } = platform;
    await platform.settle();
    socket.take();
    socket.say({ type: 'invokefunction', invocation_id: `e-${++lastInvocation}`, function_id, ...rest });
    await platform.settle();
    return socket.take();
  }

  /** A handler's context outlives the call only in a test. */
  async function contextOf(rest: object): Promise<HandlerContext> {
    const { platform, svc } = await connected();
    const seen: HandlerContext[] = [];
    svc.registerFunction('ctx', (_payload, context) => {
      seen.push(context);
    });
    await invoke(platform, 'ctx', rest);
    const [context] = seen;
    if (context === undefined) throw new Error('the handler did not run');
    return context;
  }

  const upper: StandardSchema<string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async (value) =>
        typeof value === 'string' ? { value: value.toUpperCase() } : { issues: [{ message: 'must be text' }] },
    },
  };

  describe('an invocation', () => {
    test('[I1] is answered with what the handler returns, at once or later', async () => {
      const { platform, svc } = await connected();
      svc.registerFunction('sync', (x: number) => x + 1);
      svc.registerFunction('async', async (x: number) => x + 2);
      svc.registerFunction('thenable', (x: number): PromiseLike<number> => {
        const promise = Promise.resolve(x + 3);
        // biome-ignore lint/suspicious/noThenProperty: promises of other libraries are what this is about.
        return { then: (onValue, onError) => promise.then(onValue, onError) };
      });
      expect(await invoke(platform, 'sync', { data: 1 })).toMatchObject([{ type: 'invocationresult', result: 2 }]);
      expect(await invoke(platform, 'async', { data: 1 })).toMatchObject([{ result: 3 }]);
      expect(await invoke(platform, 'thenable', { data: 1 })).toMatchObject([{ result: 4 }]);
    });

    test('[I1] whose handler returns nothing is answered without a result', async () => {
      const { platform, svc } = await connected();
      svc.registerFunction('nothing', () => {});
      expect(await invoke(platform, 'nothing')).toEqual([
        { type: 'invocationresult', invocation_id: `e-${lastInvocation}` },
      ]);
    });

    test('[SDK-6] whose handler throws is answered with code, message and stack, at once or later', async () => {
      const { platform, svc } = await connected();
      svc.registerFunction('plain', () => {
        throw new TypeError('broken');
      });
      svc.registerFunction('own', async () => {
        throw new SvcError('NO_SKU', 'sku is empty');
      });
      expect(await invoke(platform, 'plain')).toMatchObject([
        {
          error: {
            code: 'invocation_failed',
            message: 'broken',
            stacktrace: expect.stringContaining('TypeError: broken'),
          },
        },
      ]);
      expect(await invoke(platform, 'own')).toMatchObject([{ error: { code: 'NO_SKU', message: 'sku is empty' } }]);
    });

    test('[I1] of a function that this worker does not have is answered too', async () => {
      const { platform } = await connected();
      expect(await invoke(platform, 'who')).toMatchObject([{ error: { code: 'function_not_found' } }]);
    });

    test('[SDK-7] with a result that cannot be sent fails without closing the connection', async () => {
      const { platform, svc } = await connected({ frame_bytes_max: 2_000 });
      svc.registerFunction('bigint', () => 1n);
      svc.registerFunction('large', () => 'x'.repeat(2_000));
      svc.registerFunction('loud', () => {
        throw new Error('x'.repeat(2_000));
      });
      expect(await invoke(platform, 'bigint')).toMatchObject([
        {
          error: { code: 'invocation_failed', message: expect.stringContaining('the result of bigint cannot be sent') },
        },
      ]);
      expect(await invoke(platform, 'large')).toMatchObject([
        {
          error: {
            code: 'PAYLOAD_TOO_LARGE',
            message: expect.stringMatching(/^the result of large takes \d+ bytes, frame_bytes_max is 2000$/),
          },
        },
      ]);
      expect(await invoke(platform, 'loud')).toMatchObject([{ error: { code: 'PAYLOAD_TOO_LARGE' } }]);
    });

    test('[W4] that ends after its connection was lost is not answered on another connection', async () => {
      const { platform, svc, socket } = await connected();
      let finish = (_value: string): void => {};
      svc.registerFunction('slow', () => new Promise<string>((resolve) => (finish = resolve)));
      await invoke(platform, 'slow');
      socket.drop();
      await platform.pass(15_000);
      const next = await platform.connect('w-2');
      next.take();
      finish('late');
      await platform.settle();
      expect(next.take()).toEqual([]);
      expect(socket.take()).toEqual([]);
      const text = 'dropped the answer of slow: the connection it was called on is gone';
      expect(platform.logs.at(-1)).toEqual({ level: 'warn', message: text });
    });
  });

  describe('schemas around a handler', () => {
    const order = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };

    test('[SDK-2] an invalid payload never reaches the handler and is answered with its issues', async () => {
      const { platform, svc } = await connected();
      const seen: unknown[] = [];
      svc.registerFunction({ id: 'orders::create', input: order }, (payload) => seen.push(payload));
      expect(await invoke(platform, 'orders::create', { data: { sku: 5 } })).toMatchObject([
        {
          error: {
            code: 'BAD_REQUEST',
            message: 'orders::create: the payload is invalid: /sku must be string, is number',
          },
        },
      ]);
      expect(seen).toEqual([]);
      expect(await invoke(platform, 'orders::create', { data: { sku: 'a' } })).toMatchObject([{ result: 1 }]);
    });

    test('[SDK-2] a Standard Schema may be asynchronous, and the handler gets its output', async () => {
      const { platform, svc } = await connected();
      svc.registerFunction({ id: 'shout', input: upper, output: upper }, (text) => `${text} and lower`);
      expect(await invoke(platform, 'shout', { data: 'hi' })).toMatchObject([{ result: 'HI AND LOWER' }]);
      expect(await invoke(platform, 'shout', { data: 5 })).toMatchObject([{ error: { code: 'BAD_REQUEST' } }]);
    });

    test('[SDK-2] an invalid result is logged and answered by default: the work is done', async () => {
      const { platform, svc } = await connected();
      svc.registerFunction({ id: 'orders::get', output: order }, () => ({ id: 1 }));
      expect(await invoke(platform, 'orders::get')).toMatchObject([{ result: { id: 1 } }]);
      expect(await invoke(platform, 'orders::get')).toMatchObject([{ result: { id: 1 } }]);
      expect(platform.logs).toEqual([
        { level: 'warn', message: 'orders::get: the result is invalid: /sku is missing' },
      ]);
    });

    test('[SDK-2] an invalid result is an error if the function asks for that', async () => {
      const { platform, svc } = await connected();
      svc.registerFunction({ id: 'orders::get', output: order, output_check: 'error' }, async () => ({ id: 1 }));
      expect(await invoke(platform, 'orders::get')).toMatchObject([
        { error: { code: 'invocation_failed', message: 'orders::get: the result is invalid: /sku is missing' } },
      ]);
      expect(platform.logs).toEqual([]);
    });
  });

  describe('the context of a handler', () => {
    test('[SDK-3] holds the function, the caller and the trace', async () => {
      const { platform, svc } = await connected();
      const seen: HandlerContext[] = [];
      svc.registerFunction('a::b', (_payload, context) => seen.push(context));
      await invoke(platform, 'a::b', {
        metadata: { tenant: 'acme' },
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        baggage: 'svc.depth=3,user=eve',
        trigger: { type: 'cron', id: 'tr-1' },
      });
      const [context] = seen;
      expect(context?.function_id).toBe('a::b');
      expect(context?.invocation_id).toBe(wire === 'json' ? `e-${lastInvocation}` : '00000000-0000ee6b2801');
      expect(context?.metadata).toEqual({ tenant: 'acme' });
      expect(context?.trace).toEqual({ trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' });
      expect(context?.trigger).toEqual({ type: 'cron', id: 'tr-1' });
      expect(context?.baggage.get('user')).toBe('eve');
      expect(context?.depth).toBe(3);
      expect(context?.worker).toBe(svc);
    });

    test('[SDK-3] is empty if the caller sent nothing', async () => {
      const context = await contextOf({});
      expect([context.trigger, context.trace, context.metadata, context.deadline]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
      expect([context.attempt, context.queue, context.messageReceiptId]).toEqual([undefined, undefined, undefined]);
      expect(context.baggage.size).toBe(0);
      expect(context.depth).toBe(0);
      expect(context.signal.aborted).toBe(false);
    });

    test('[Q9] shows a queued job its receipt, attempt and queue', async () => {
      const context = await contextOf({
        metadata: { messageReceiptId: 'r-1', attempt: 2, queue: 'mail', tenant: 'acme' },
      });
      expect([context.attempt, context.queue, context.messageReceiptId]).toEqual([2, 'mail', 'r-1']);
      const foreign = await contextOf({ metadata: { attempt: 'second', queue: 5, messageReceiptId: {} } });
      expect([foreign.attempt, foreign.queue, foreign.messageReceiptId]).toEqual([undefined, undefined, undefined]);
    });

    test('[SDK-3] the deadline is when the caller stops waiting, and the signal is aborted then', async () => {
      const { platform, svc } = await connected();
      const seen: HandlerContext[] = [];
      svc.registerFunction('slow', (_payload, context) => {
        seen.push(context);
        return new Promise(() => {});
      });
      await invoke(platform, 'slow', { timeout_ms: 2_000 });
      const [context] = seen;
      const dueMs = platform.clock.wallMs() + 2_000;
      await platform.pass(500);
      expect(context?.deadline).toEqual(new Date(dueMs));
      const { signal } = context ?? {};
      await platform.pass(1_490);
      expect(signal?.aborted).toBe(false);
      await platform.pass(60);
      expect(signal?.aborted).toBe(true);
      expect(signal?.reason).toMatchObject({ code: 'TIMEOUT' });
      await invoke(platform, 'slow', { timeout_ms: 10 });
      await platform.pass(100);
      expect(seen[1]?.signal.aborted).toBe(true);
    });

    test('[SDK-8] a handler that has ended leaves no timer, for any deadline', async () => {
      const { platform, svc } = await connected();
      const signals: AbortSignal[] = [];
      svc.registerFunction('quick', (_payload, { signal }) => {
        signals.push(signal);
      });
      const timers = platform.clock.timerCount;
      await invoke(platform, 'quick', { timeout_ms: 3_600_000 });
      await platform.pass(50);
      expect(platform.clock.timerCount).toBe(timers);
      expect(signals[0]?.aborted).toBe(false);
    });
  });

  describe('calls made inside a handler', () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

    /** The calls that a worker sent. */
    const calls = (socket: FakeSocket) => socket.takeType('invokefunction');

    test('[I8] pass on the trace and the depth, after every await too', async () => {
      const { platform, svc, socket } = await connected();
      svc.registerFunction('outer', async () => {
        await Promise.resolve();
        await new Promise<void>((resolve) => queueMicrotask(resolve));
        void svc.trigger({ function_id: 'inner' }).catch(() => {});
      });
      socket.say({
        type: 'invokefunction',
        invocation_id: 'e-1',
        function_id: 'outer',
        traceparent,
        baggage: 'svc.depth=7,tenant=acme%20inc',
      });
      await platform.settle();
      expect(calls(socket)).toMatchObject([
        { function_id: 'inner', traceparent, baggage: 'svc.depth=7,tenant=acme%20inc' },
      ]);
    });

    test('[PD-31] in a trace that is kept are children of the span of the handler', async () => {
      const { platform, svc, socket } = await connected();
      svc.registerFunction('outer', () => void svc.trigger({ function_id: 'inner' }).catch(() => {}));
      const sampled = traceparent.replace(/00$/, '01');
      socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id: 'outer', traceparent: sampled });
      await platform.settle();
      const [call] = calls(socket);
      expect(call?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[\da-f]{16}-01$/);
    });

    test('[SDK-3] belong to their own handler when several handlers run', async () => {
      const { platform, svc, socket } = await connected();
      let go = (): void => {};
      const gate = new Promise<void>((resolve) => (go = resolve));
      svc.registerFunction('outer', async (name: string) => {
        await gate;
        void svc.trigger({ function_id: 'inner', payload: name }).catch(() => {});
      });
      for (const name of ['a', 'b', 'c']) {
        socket.say({
          type: 'invokefunction',
          invocation_id: name,
          function_id: 'outer',
          data: name,
          baggage: `of=${name}`,
        });
      }
      go();
      await platform.settle();
      expect(calls(socket).map(({ data, baggage }) => [data, baggage])).toEqual([
        ['a', 'of=a'],
        ['b', 'of=b'],
        ['c', 'of=c'],
      ]);
    });

    test('[SDK-3] have no context outside a handler', async () => {
      const { platform, svc, socket } = await connected();
      svc.registerFunction('outer', () => {});
      await invoke(platform, 'outer', { traceparent, baggage: 'svc.depth=7' });
      void svc.trigger({ function_id: 'inner' }).catch(() => {});
      await platform.settle();
      const [call] = calls(socket);
      expect(call).not.toHaveProperty('traceparent');
      expect(call).not.toHaveProperty('baggage');
    });
  });
});
