import { describe, expect, test } from 'vitest';
import type { InternalOptions } from '../../../../src/sdk/internal.ts';
import { FakePlatform, type FakeSocket } from '../../../support/fakes/fake-platform.ts';
import { startSdkWorker } from '../../../support/fakes/sdk-worker.ts';

async function connected(options: InternalOptions = {}) {
  const { platform, svc } = startSdkWorker(options);
  /** Unfinished handlers of `slow`, by their functions to end. */
  const running: ((value: unknown) => void)[] = [];
  const signals: AbortSignal[] = [];
  svc.registerFunction('slow', (_payload, { signal }) => {
    signals.push(signal);
    return new Promise((resolve) => running.push(resolve));
  });
  svc.registerTrigger({ type: 'cron', function_id: 'slow', config: { expression: '@daily' } });
  const socket = await platform.connect();
  socket.take();
  const invoke = async (invocation_id: string) => {
    socket.say({ type: 'invokefunction', invocation_id, function_id: 'slow' });
    await platform.settle();
  };
  return { platform, svc, socket, running, signals, invoke };
}

/** The engine answers the question that follows the withdrawal. */
async function confirm(platform: FakePlatform, socket: FakeSocket) {
  await platform.settle();
  const frames = socket.take();
  const probe = frames.find(({ type }) => type === 'invokefunction');
  socket.say({ type: 'invocationresult', invocation_id: probe?.invocation_id, result: {} });
  await platform.settle();
  return frames;
}

describe('shutting down', () => {
  test('[SDK-8] withdraws triggers and functions, lets the handlers finish, sends their results, and closes', async () => {
    const { platform, svc, socket, running, invoke } = await connected();
    await invoke('e-1');
    const done = svc.shutdown();
    const frames = await confirm(platform, socket);
    expect(frames.map(({ type }) => type)).toEqual([
      ...['draining', 'unregistertrigger', 'unregisterfunction'],
      'invokefunction',
    ]);
    await platform.pass(20_000);
    expect(socket.ending).toBeUndefined();
    running[0]?.('finished');
    await platform.settle();
    expect(socket.take()).toEqual([{ type: 'invocationresult', invocation_id: 'e-1', result: 'finished' }]);
    expect(socket.ending).toEqual({ code: 1000, reason: 'shut down' });
    socket.drop({ code: 1000, reason: '' });
    await done;
    expect(svc.state_of_connection).toBe('closed');
  });

  test('sends a foreign engine no frame that its wire does not have', async () => {
    const platform = new FakePlatform();
    platform.selects = '';
    const { svc } = startSdkWorker({}, platform);
    svc.registerFunction('a::b', () => 1);
    const socket = await platform.connect();
    socket.take();
    void svc.shutdown();
    await platform.settle();
    expect(socket.take().map(({ type }) => type)).toEqual(['unregisterfunction', 'invokefunction']);
  });

  test('[SDK-8] runs calls that arrive after it has withdrawn its functions', async () => {
    const { platform, svc, socket, running, invoke } = await connected();
    void svc.shutdown();
    await platform.settle();
    await invoke('e-late');
    await confirm(platform, socket);
    expect(socket.ending).toBeUndefined();
    running[0]?.(1);
    await platform.settle();
    expect(socket.takeType('invocationresult')).toHaveLength(1);
    expect(socket.ending).toMatchObject({ code: 1000 });
  });

  test('[SDK-8] closes an idle worker at once, even if the engine does not confirm', async () => {
    const { platform, svc, socket } = await connected();
    void svc.shutdown();
    await platform.pass(1_000);
    expect(socket.ending).toMatchObject({ code: 1000 });
  });

  test('[SDK-8] aborts the signals of slow handlers, sends their last answers, and closes', async () => {
    const { platform, svc, socket, running, signals, invoke } = await connected({ drain_timeout_ms: 5_000 });
    await invoke('e-1');
    await invoke('e-2');
    void svc.shutdown();
    await confirm(platform, socket);
    await platform.pass(4_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    await platform.pass(1);
    expect(signals.map(({ reason }) => reason.code)).toEqual(['SHUTDOWN', 'SHUTDOWN']);
    running[0]?.('partial');
    await platform.settle();
    expect(socket.ending).toBeUndefined();
    await platform.pass(500);
    expect(socket.take()).toMatchObject([{ invocation_id: 'e-1', result: 'partial' }]);
    expect(socket.ending).toMatchObject({ code: 1000 });
  });

  test('[SDK-8] ends even if the engine never answers the close', async () => {
    const { platform, svc, socket } = await connected();
    const done = svc.shutdown();
    await platform.pass(1_000);
    await platform.pass(1_000);
    expect(socket.ending).toBe('terminate');
    await done;
  });

  test('[SDK-8] without a connection waits only for the handlers, and stops dialling', async () => {
    const { platform, svc, socket, running, invoke } = await connected();
    await invoke('e-1');
    socket.drop();
    const waiting = svc.trigger({ function_id: 'a::b' });
    const failure = expect(waiting).rejects.toMatchObject({ code: 'SHUTDOWN' });
    const done = svc.shutdown();
    await platform.settle();
    running[0]?.(1);
    await done;
    await failure;
    await platform.pass(60_000);
    expect(platform.sockets).toHaveLength(1);
    expect(platform.clock.timerCount).toBe(0);
  });

  test('[SDK-8] does not register functions on a new connection during the drain', async () => {
    const { platform, svc, socket, invoke } = await connected();
    await invoke('e-1');
    void svc.shutdown();
    await confirm(platform, socket);
    socket.drop();
    await platform.pass(15_000);
    const next = await platform.connect('w-2');
    expect(next.take().map(({ type }) => type)).toEqual(['reattach']);
  });

  test('[SDK-8] makes later calls, registrations and ready fail with a reason', async () => {
    const { platform, svc, socket } = await connected();
    const pending = svc.trigger({ function_id: 'a::b' });
    const failure = expect(pending).rejects.toMatchObject({ code: 'invocation_stopped' });
    const done = svc.shutdown();
    expect(svc.shutdown()).toBe(done);
    await platform.pass(1_000);
    socket.drop({ code: 1000, reason: '' });
    await done;
    await failure;
    await expect(svc.trigger({ function_id: 'a::b' })).rejects.toMatchObject({ code: 'SHUTDOWN' });
    await expect(svc.ready()).rejects.toMatchObject({ code: 'SHUTDOWN' });
    expect(() => svc.registerFunction('late', () => 1)).toThrow("function 'late': this worker is shutting down");
    await svc.shutdown();
    await platform.pass(60_000);
    expect(platform.clock.timerCount).toBe(0);
  });
});

describe('signals', () => {
  test('[SDK-8] the first SIGTERM drains, and then has its usual effect', async () => {
    const { platform, svc, socket, running, invoke } = await connected();
    await invoke('e-1');
    platform.signals.send('SIGTERM');
    await confirm(platform, socket);
    expect(platform.signals.raised).toEqual([]);
    running[0]?.(1);
    await platform.settle();
    socket.drop({ code: 1000, reason: '' });
    await platform.settle();
    expect(platform.signals.raised).toEqual(['SIGTERM']);
    expect(platform.signals.listenerCount).toBe(0);
    expect(svc.state_of_connection).toBe('closed');
  });

  test('[SDK-8] the second signal takes effect at once', async () => {
    const { platform, invoke } = await connected();
    await invoke('e-1');
    platform.signals.send('SIGTERM');
    await platform.settle();
    platform.signals.send('SIGINT');
    expect(platform.signals.raised).toEqual(['SIGINT']);
    expect(platform.signals.listenerCount).toBe(0);
  });

  test('[SDK-8] are ignored with the option, and after a shutdown by the program', async () => {
    const own = await connected({ handle_signals: false });
    expect(own.platform.signals.listenerCount).toBe(0);
    const { platform, svc, socket } = await connected();
    expect(platform.signals.listenerCount).toBe(1);
    const done = svc.shutdown();
    await platform.pass(1_000);
    socket.drop({ code: 1000, reason: '' });
    await done;
    expect(platform.signals.listenerCount).toBe(0);
    expect(platform.signals.raised).toEqual([]);
  });
});
