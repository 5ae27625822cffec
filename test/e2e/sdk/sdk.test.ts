// The SDK as users use it, against the real engine over real sockets.

import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  isFunctionNotFound,
  isTimeout,
  type SvcError,
  type SvcWorker,
  Void,
  type WorkerEvents,
  type WorkerOptions,
} from '../../../src/sdk/index.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { CutProxy } from '../../support/load/cut-proxy.ts';
import { waitFor } from '../../support/wait-for.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const connectTo = sdkWorkers();

function connectOver(wire: 'binary' | 'json', url: string, options: WorkerOptions = {}) {
  const logs: string[] = [];
  const svc = connectTo(url, { wire, log: (_level, message) => logs.push(message), ...options });
  return { svc, logs };
}

/** The next event of that name. */
function next<Name extends keyof WorkerEvents>(svc: SvcWorker, name: Name): Promise<WorkerEvents[Name]> {
  return new Promise((resolve) => {
    const stop = svc.on(name, (detail) => {
      stop();
      resolve(detail);
    });
  });
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each(['binary', 'json'] as const)('over the %s form', (wire) => {
  const connect = (url: string, options: WorkerOptions = {}) => connectOver(wire, url, options);

  describe('two workers', () => {
    test('[I1] call each other through the engine, with results, errors and every JSON value', async () => {
      await using engine = await startTestEngine();
      const { svc: provider } = connect(engine.url);
      const { svc: caller } = connect(engine.url);
      const echo = provider.registerFunction('own::echo', (value: unknown) => value);
      const fail = provider.registerFunction('own::fail', async () => {
        throw new RangeError('out of stock');
      });
      await Promise.all([echo.ready(), fail.ready()]);
      const values = [null, 0, 'é€😀 "\\', [], { a: { b: [1, { c: null }] } }, 'x'.repeat(300_000), '€'.repeat(50_000)];
      for (const value of values) expect(await caller.trigger({ function_id: echo, payload: value })).toEqual(value);
      const failure: SvcError = await caller.trigger({ function_id: fail }).catch((error) => error);
      expect(failure).toMatchObject({ code: 'invocation_failed', message: 'out of stock', function_id: 'own::fail' });
      expect(failure.remote?.stack).toContain('RangeError: out of stock');
      expect(failure.retryable).toBe(false);
      const missing = await caller.trigger({ function_id: 'own::none' }).catch((error) => error);
      expect(isFunctionNotFound(missing)).toBe(true);
      expect(missing).toMatchObject({ message: expect.stringContaining('own::none'), retryable: true });
    });

    test('[I3] the engine enforces the deadline that the SDK sends, and the handler sees it', async () => {
      await using engine = await startTestEngine();
      const { svc } = connect(engine.url);
      let aborted: Promise<unknown> = Promise.resolve();
      const slow = svc.registerFunction('own::slow', (_: undefined, { signal, deadline }) => {
        expect(deadline).toBeInstanceOf(Date);
        aborted = new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));
        return new Promise<void>(() => {});
      });
      await svc.ready();
      const failure = await slow.trigger(undefined, { timeout_ms: 150 }).catch((error) => error);
      expect(isTimeout(failure)).toBe(true);
      expect(failure.message).toBe('invocation timed out after 150ms');
      expect(await aborted).toMatchObject({ code: 'TIMEOUT' });
    });

    test('[I8] a handler that calls itself is stopped at the limit, without passing anything on itself', async () => {
      await using engine = await startTestEngine();
      const { svc } = connect(engine.url);
      const depths: number[] = [];
      const loop = svc.registerFunction('own::loop', async (_: undefined, { depth }): Promise<unknown> => {
        depths.push(depth);
        await Promise.resolve();
        return loop.trigger();
      });
      await expect(loop.trigger()).rejects.toMatchObject({ code: 'DEPTH_EXCEEDED' });
      expect(depths.at(0)).toBe(1);
      expect(depths.at(-1)).toBeLessThanOrEqual(64);
      expect(depths).toEqual([...depths].sort((a, b) => a - b));
    });

    test('[SDK-3] a timer of the SDK that one handler started does not run in the context of that handler', async () => {
      await using engine = await startTestEngine();
      const { svc } = connect(engine.url);
      // Another worker calls, so that the first deadline of this one is the one its handler asks for.
      const { svc: caller } = connect(engine.url);
      const seen = new Promise<number>((resolve) => {
        svc.registerFunction('own::seen', (_payload, { depth }) => resolve(depth));
      });
      // Outside a handler a chain begins at depth 1, inside this one the next call would be at 2.
      const wait = svc.registerFunction('own::wait', (_: undefined, { signal }) => {
        signal.addEventListener('abort', () => void svc.trigger({ function_id: 'own::seen', action: Void() }));
        return new Promise<void>(() => {});
      });
      await Promise.all([svc.ready(), caller.ready()]);
      await caller.trigger({ function_id: wait, timeout_ms: 50 }).catch(() => {});
      expect(await seen).toBe(1);
    });

    test('[SDK-1] a Void call arrives', async () => {
      await using engine = await startTestEngine();
      const { svc } = connect(engine.url);
      const arrived = new Promise((resolve) => {
        svc.registerFunction('own::note', (payload) => void resolve(payload));
      });
      expect(await svc.trigger({ function_id: 'own::note', payload: 5, action: Void() })).toBeUndefined();
      expect(await arrived).toBe(5);
    });

    test('[SDK-6] the stack of a failed call names the line that made it', async () => {
      await using engine = await startTestEngine();
      const { svc } = connect(engine.url);
      async function placeOrder(): Promise<unknown> {
        return await svc.trigger({ function_id: 'own::none' });
      }
      await expect(placeOrder()).rejects.toMatchObject({ stack: expect.stringMatching(/placeOrder/) });
    });
  });

  describe('registrations', () => {
    test('[SDK-7] a refused registration is reported with its reason, and an accepted one is ready', async () => {
      await using engine = await startTestEngine();
      const { svc, logs } = connect(engine.url);
      const good = svc.registerFunction('own::good', () => 1);
      await good.ready();
      await expect(svc.registerFunction('engine::own', () => 1).ready()).rejects.toMatchObject({
        code: 'FUNCTION_NAMESPACE_CONFLICT',
        message: expect.stringContaining("the engine refused the function 'engine::own'"),
      });
      const rejected = next(svc, 'rejected');
      svc.registerFunction('engine::other', () => 1);
      expect(await rejected).toMatchObject({ subject: 'function', id: 'engine::other' });
      expect(logs).toEqual([]);
    });

    test('[SDK-7] the SDK does not send registrations that the engine would drop', async () => {
      await using engine = await startTestEngine();
      const { svc } = connect(engine.url);
      const bindings: unknown[] = [];
      const provider = { registerTrigger: (one: unknown) => void bindings.push(one), unregisterTrigger() {} };
      const type = svc.registerTriggerType({ id: 'tick', description: 'Tick' }, provider);
      const hook = svc.registerTrigger({
        type: String('tick'),
        function_id: 'own::good',
        config: { every: 1 },
        metadata: [1],
      });
      await Promise.all([type.ready(), hook.ready()]);
      await svc.registerFunction('own::good', () => 1).ready();
      expect(bindings).toEqual([
        { id: hook.id, type: String('tick'), function_id: 'own::good', config: { every: 1 }, metadata: [1] },
      ]);
      expect(engine.log.filter((line) => / (WARN|ERROR) /.test(line))).toEqual([]);
    });
  });

  describe('the connection', () => {
    test('[W4] after a cut all registrations return, with the same trigger ids, and waiting calls arrive', async () => {
      await using engine = await startTestEngine();
      await using proxy = await CutProxy.start(engine.port);
      const { svc } = connect(proxy.url);
      const bound: string[] = [];
      svc.registerTriggerType(
        { id: 'tick', description: 'Tick' },
        {
          registerTrigger: ({ id }) => void bound.push(id),
          unregisterTrigger: ({ id }) => void bound.push(`gone ${id}`),
        },
      );
      const one = svc.registerFunction('own::one', () => 1);
      const hook = svc.registerTrigger({ type: String('tick'), function_id: one });
      await one.ready();
      const firstId = svc.id;
      const lost = next(svc, 'disconnected');
      const returned = next(svc, 'reconnected');
      proxy.cut();
      await lost;
      const waiting = one.trigger();
      const { worker_id } = await returned;
      expect(worker_id).not.toBe(firstId);
      expect(await waiting).toBe(1);
      await one.ready();
      expect(bound).toEqual([hook.id, hook.id]);
    });

    test('[W4] a call that was running when the connection was cut fails, because its effect is unknown', async () => {
      await using engine = await startTestEngine();
      await using proxy = await CutProxy.start(engine.port);
      const { svc: provider } = connect(engine.url);
      const { svc: caller } = connect(proxy.url);
      const began = new Promise<void>((resolve) => {
        provider.registerFunction('own::slow', () => {
          resolve();
          return new Promise<void>(() => {});
        });
      });
      await provider.ready();
      const call = caller.trigger({ function_id: 'own::slow' });
      const failure = expect(call).rejects.toMatchObject({ code: 'invocation_stopped' });
      await began;
      proxy.cut();
      await failure;
    });

    test('[X2] a missing token is reported with its reason, and with the token the worker is admitted', async () => {
      const token = 'a-token-that-is-long-enough-for-the-rule';
      await using engine = await startTestEngine({
        yaml: `bridge_token: ${token}\nworkers:\n  - name: svc-worker-manager\n    config: {port: 0}\n`,
      });
      const { svc: stranger, logs } = connect(engine.url);
      await expect(stranger.ready()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
      expect(logs).toHaveLength(1);
      expect(logs[0]).toContain('refused this worker: 401');
      const { svc } = connect(engine.url, { token });
      await svc.ready();
    });

    test('[X2] the token in the environment is only for the engine whose address is there too', async () => {
      const token = 'a-token-that-is-long-enough-for-the-rule';
      const yaml = `bridge_token: ${token}\nworkers:\n  - name: svc-worker-manager\n    config: {port: 0}\n`;
      await using own = await startTestEngine({ yaml });
      await using other = await startTestEngine({ yaml });
      vi.stubEnv('SVC_TOKEN', token);
      vi.stubEnv('SVC_URL', own.url);
      await connect(own.url).svc.ready();
      await expect(connect(other.url).svc.ready()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
      const headers = { authorization: 'Bearer of-another-kind' };
      await expect(connect(own.url, { headers }).svc.ready()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    });

    test('[SDK-7] a missing engine is one log line, and a worker that finds it later works', async () => {
      const engine = await startTestEngine();
      const { url, port } = engine;
      await engine.drain();
      const { svc, logs } = connect(url);
      const one = svc.registerFunction('own::one', () => 1);
      const call = one.trigger();
      const yaml = `drain_timeout_ms: 100\nworkers:\n  - name: svc-worker-manager\n    config: {port: ${port}}\n`;
      await using later = await startTestEngine({ yaml });
      expect(await call).toBe(1);
      expect(later.port).toBe(port);
      expect(logs.filter((line) => line.includes('cannot reach the engine')).length).toBeLessThanOrEqual(1);
    });
  });

  describe('a shutdown', () => {
    test('[SDK-8] lets the running handler answer, and the engine knows at once that the function is gone', async () => {
      await using engine = await startTestEngine();
      const { svc: provider } = connect(engine.url, { drain_timeout_ms: 5_000 });
      const { svc: caller } = connect(engine.url);
      let finish = (_value: string): void => {};
      const began = new Promise<void>((resolve) => {
        provider.registerFunction('own::slow', () => {
          resolve();
          return new Promise<string>((done) => {
            finish = done;
          });
        });
      });
      await provider.ready();
      const call = caller.trigger({ function_id: 'own::slow' });
      await began;
      const done = provider.shutdown();
      const lists = async () => {
        const { functions } = await caller.trigger<unknown, { functions: { function_id: string }[] }>(
          'engine::functions::list',
          {},
        );
        return functions.some(({ function_id: id }) => id === 'own::slow');
      };
      await waitFor('the function is gone', async () => !(await lists()));
      finish('in time');
      expect(await call).toBe('in time');
      await done;
    });
  });
});
