import { describe, expect, test } from 'vitest';
import { createWorker, type InternalOptions } from '../../../../src/sdk/internal.ts';
import type { SvcWorker } from '../../../../src/sdk/worker/svc-worker.ts';
import { FakePlatform } from '../../../support/fakes/fake-platform.ts';

function setUp(options: InternalOptions = {}, url = 'ws://engine.test:49134') {
  const platform = new FakePlatform();
  const svc = createWorker(url, options, platform);
  return { platform, svc, events: record(svc) };
}

/** Every event of the worker, by name, in order. */
function record(svc: SvcWorker): string[] {
  const names: string[] = [];
  for (const name of ['connected', 'disconnected', 'reconnected', 'rejected', 'draining'] as const) {
    svc.on(name, () => names.push(name));
  }
  return names;
}

describe('a connection in trouble', () => {
  test('[SDK-7] an absent engine is logged once, then once per minute, and once when it is back', async () => {
    const { platform } = setUp({}, 'ws://user:password@engine.test:49134/path?token=secret');
    platform.nextRandom = 0.999;
    const fail = async (durationMs: number): Promise<void> => {
      for (let passedMs = 0; passedMs < durationMs; passedMs += 500) {
        if (platform.sockets.length > 0) platform.socket.drop({ reason: 'connect ECONNREFUSED 127.0.0.1:49134' });
        await platform.pass(500);
      }
    };
    await fail(59_500);
    expect(platform.logs).toEqual([
      {
        level: 'warn',
        message:
          'cannot reach the engine at ws://engine.test:49134/path (connect ECONNREFUSED 127.0.0.1:49134); trying again',
      },
    ]);
    await fail(50_000);
    expect(platform.logs).toHaveLength(2);
    expect(platform.logs[1]?.message).toMatch(/\(\d+ more since the last line\)$/);
    await platform.pass(15_000);
    await platform.connect();
    expect(platform.logs[2]).toEqual({
      level: 'info',
      message: 'connected to the engine at ws://engine.test:49134/path',
    });
  });

  test.each([
    [401, 'UNAUTHORIZED'],
    [403, 'FORBIDDEN'],
  ])(
    '[SDK-7] a dial refused with %s is reported once with its reason, rejects ready, and is repeated',
    async (httpStatus, code) => {
      const { platform, svc, events } = setUp();
      const rejections: unknown[] = [];
      svc.on('rejected', (rejection) => rejections.push(rejection));
      const ready = svc.ready();
      const message = `the engine at ws://engine.test:49134 refused this worker: ${httpStatus} token is missing`;
      platform.socket.drop({ httpStatus, reason: 'token is missing' });
      await expect(ready).rejects.toMatchObject({ code, message });
      expect(rejections).toEqual([{ subject: 'connection', error: expect.objectContaining({ code, message }) }]);
      expect(platform.logs).toEqual([{ level: 'error', message: `${message}; trying again` }]);
      await platform.pass(15_000);
      platform.socket.drop({ httpStatus, reason: 'token is missing' });
      await platform.pass(15_000);
      expect(events).toEqual(['rejected']);
      await platform.connect();
      expect(svc.state_of_connection).toBe('connected');
      await svc.ready();
    },
  );

  test('[SDK-7] the loss of a connection that lasted is logged at once, even after a recent line', async () => {
    const { platform } = setUp();
    platform.socket.drop({ reason: 'connect ECONNREFUSED' });
    await platform.pass(15_000);
    const socket = await platform.connect();
    await platform.pass(15_000);
    socket.drop({ code: 1001, reason: '' });
    expect(platform.logs.map(({ message }) => message)).toEqual([
      'cannot reach the engine at ws://engine.test:49134 (connect ECONNREFUSED); trying again',
      'connected to the engine at ws://engine.test:49134',
      'lost the connection to the engine at ws://engine.test:49134 (the engine is going away, code 1001); trying again',
    ]);
  });

  test('[SDK-7] any other answer to the upgrade counts as an unreachable engine', async () => {
    const { platform, events } = setUp();
    platform.socket.drop({ httpStatus: 503, reason: 'Service Unavailable' });
    expect(events).toEqual([]);
    expect(platform.logs[0]?.message).toContain(
      'cannot reach the engine at ws://engine.test:49134 (Service Unavailable)',
    );
  });

  test('[SDK-7] a worker without reconnects ends with its first connection, and fails all waiting calls', async () => {
    const { platform, svc } = setUp({ reconnect: false });
    const ready = svc.ready();
    const call = svc.trigger({ function_id: 'a::b' });
    platform.socket.drop({ reason: 'connect ECONNREFUSED' });
    await expect(ready).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await expect(call).rejects.toMatchObject({ code: 'UNREACHABLE', function_id: 'a::b' });
    await expect(svc.trigger({ function_id: 'a::b' })).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(svc.state_of_connection).toBe('closed');
    await platform.pass(50);
    expect(platform.clock.timerCount).toBe(0);
    await svc.shutdown();
  });

  test('[SDK-7] unreadable messages are dropped and logged once', async () => {
    const { platform, svc } = setUp();
    const socket = await platform.connect();
    for (const text of ['no json', '{"type":"future"}', '']) socket.sayText(text);
    expect(svc.state_of_connection).toBe('connected');
    expect(platform.logs.map(({ level }) => level)).toEqual(['warn']);
    expect(platform.logs[0]?.message).toContain('dropped a message of the engine');
  });

  test('[G1] a draining engine is reported as an event, and calls are still sent', async () => {
    const { platform, svc, events } = setUp({ announce: false });
    const socket = await platform.connect();
    socket.say({ type: 'draining' });
    expect(events).toEqual(['connected', 'draining']);
    const call = svc.trigger({ function_id: 'a::b' });
    await platform.settle();
    socket.say({ type: 'invocationresult', invocation_id: socket.take()[0]?.invocation_id, result: 1 });
    expect(await call).toBe(1);
  });

  test('[SDK-7] a listener that throws is logged and does not stop the other listeners', async () => {
    const { platform, svc } = setUp();
    const heard: string[] = [];
    svc.on('connected', () => {
      throw new Error('listener broke');
    });
    const stop = svc.on('connected', () => heard.push('second'));
    svc.on('connected', () => heard.push('third'));
    stop();
    await platform.connect();
    expect(heard).toEqual(['third']);
    expect(platform.logs[0]).toMatchObject({ level: 'error', message: expect.stringContaining('listener broke') });
  });

  test('[SDK-7] a log function that throws is replaced for that line', async () => {
    const broken = () => {
      throw new Error('disk full');
    };
    const { platform, svc } = setUp({ log: broken });
    platform.socket.drop({ reason: 'connect ECONNREFUSED' });
    expect(svc.state_of_connection).toBe('disconnected');
    expect(platform.logs).toEqual([
      { level: 'error', message: expect.stringMatching(/disk full: cannot reach the engine/) },
    ]);
  });

  test('[SDK-7] a listener that adds listeners does not cause a loop', async () => {
    const { platform, svc } = setUp();
    let heard = 0;
    const listen = (): void => {
      svc.on('connected', () => {
        heard++;
        if (heard < 1_000) listen();
      });
    };
    listen();
    await platform.connect();
    expect(heard).toBe(1);
  });

  test('[SDK-7] listening to an event that does not exist is refused with the ones that do', () => {
    const { svc } = setUp();
    const misspelt = JSON.parse('"conected"');
    expect(() => svc.on(misspelt, () => {})).toThrow('event: "conected", expected one of connected, disconnected');
  });
});
