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

describe('connecting', () => {
  test('[SDK-7] a worker dials at once with its subprotocols, and is connected when the engine has sent its id', async () => {
    const { platform, svc, events } = setUp({ token: 'secret-token', headers: { 'x-own': '1' } });
    expect(platform.socket.request).toMatchObject({
      url: 'ws://engine.test:49134',
      subprotocols: ['svc.compact.v2', 'svc.compact.v1', 'svc.json.v1'],
      headers: { 'x-own': '1', Authorization: 'Bearer secret-token' },
    });
    expect(svc.state_of_connection).toBe('connecting');
    expect(svc.id).toBeUndefined();
    const ready = svc.ready();
    await platform.connect('w-1');
    await ready;
    expect(svc.state_of_connection).toBe('connected');
    expect(svc.id).toBe('w-1');
    expect(events).toEqual(['connected']);
    await svc.ready();
  });

  test('[SDK-7] the worker announces itself before anything else, in one write with the rest', async () => {
    const { platform, svc } = setUp({ worker_name: 'orders', description: 'Takes orders', max_in_flight: 8 });
    svc.registerFunction('orders::create', () => 1);
    const socket = await platform.connect();
    expect(socket.writes).toBe(1);
    const [announcement, ...rest] = socket.take();
    expect(announcement).toEqual({
      type: 'invokefunction',
      function_id: 'engine::workers::register',
      timeout_ms: 30_000,
      action: { type: 'void' },
      data: {
        runtime: 'fake',
        version: '0.1.0',
        name: 'orders',
        description: 'Takes orders',
        os: 'fake 1.0 (test)',
        pid: 1,
        max_in_flight: 8,
      },
    });
    expect(rest.map(({ type }) => type)).toEqual(['registerfunction']);
  });

  test('[SDK-7] a plain caller does not announce itself', async () => {
    const { platform } = setUp({ announce: false });
    const socket = await platform.connect();
    expect(socket.take()).toEqual([]);
  });

  test('[SDK-7] an engine that accepts and sends nothing is given up after ten seconds', async () => {
    const { platform, svc } = setUp();
    await platform.pass(9_999);
    expect(platform.socket.ending).toBeUndefined();
    await platform.pass(1);
    expect(platform.socket.ending).toBe('terminate');
    expect(svc.state_of_connection).toBe('disconnected');
    expect(platform.logs.at(-1)?.message).toContain('no answer within 10 s');
  });

  test('[SDK-7] an invalid address, header or option is refused at once, without quoting the token', () => {
    const platform = new FakePlatform();
    const make = (url: string, options: InternalOptions) => () => createWorker(url, options, platform);
    expect(make('http://x', {})).toThrow('engine address: "http://x", expected ws://… or wss://…');
    expect(make('49134', {})).toThrow('expected ws://… or wss://…');
    expect(make('ws://x', { token: 'se cret' })).toThrow(/^token: empty, or with spaces, line breaks/);
    expect(make('ws://x', { headers: { 'bad name': 'x' } })).toThrow("headers: 'bad name'");
    expect(make('ws://x', { headers: { ok: 'a\nb' } })).toThrow("headers: 'ok'");
    expect(make('ws://x', { timeout_ms: 0 })).toThrow('timeout_ms: 0, expected a whole number from 1 to 3600000');
    expect(make('ws://x', { drain_timeout_ms: -1 })).toThrow('drain_timeout_ms: -1');
    expect(make('ws://x', { max_in_flight: 0 })).toThrow('max_in_flight: 0, expected a whole number from 1 to 65536');
    platform.wire = 'xml';
    expect(make('ws://x', {})).toThrow('SVC_WIRE: "xml", expected binary or json');
    expect(platform.sockets).toEqual([]);
  });
});

describe('the form of the wire', () => {
  test('[SDK-7] is binary unless option or environment ask for JSON, the option first', () => {
    const offered = (environment: string | undefined, wire?: 'binary' | 'json') => {
      const platform = new FakePlatform();
      platform.wire = environment;
      createWorker('ws://engine.test:49134', { wire }, platform);
      return platform.socket.request.subprotocols;
    };
    const all = ['svc.compact.v2', 'svc.compact.v1', 'svc.json.v1'];
    expect(offered(undefined)).toEqual(all);
    expect(offered('binary')).toEqual(all);
    expect(offered('json')).toEqual(['svc.json.v1']);
    expect(offered(undefined, 'json')).toEqual(['svc.json.v1']);
    expect(offered('json', 'binary')).toEqual(all);
  });

  test('[SDK-7] is the one that the engine selects, on every connection', async () => {
    const { platform, svc } = setUp({ announce: false });
    const echo = svc.registerFunction('own::echo', (value: unknown) => value);
    for (const [form, next, others] of [
      ['svc.compact.v2', 'svc.json.v1', 1],
      ['svc.json.v1', 'svc.compact.v2', 2],
      ['svc.compact.v2', 'svc.compact.v2', 2],
    ] as const) {
      const socket = await platform.connect(`w-${form}`);
      expect(socket.subprotocol).toBe(form);
      expect(socket.take()).toHaveLength(others);
      const call = echo.trigger({ form });
      await platform.settle();
      const [sent] = socket.take();
      socket.say({ type: 'invokefunction', invocation_id: 'e-1', function_id: 'own::echo', data: sent?.data });
      await platform.settle();
      const [answer] = socket.take();
      expect(answer).toMatchObject({ type: 'invocationresult', invocation_id: 'e-1', result: { form } });
      socket.say({ type: 'invocationresult', invocation_id: sent?.invocation_id, result: answer?.result });
      expect(await call).toEqual({ form });
      platform.selects = next;
      socket.drop();
      await platform.pass(5_000);
    }
  });

  test('[SDK-7] unreadable messages are dropped and logged at a limited rate', async () => {
    const { platform } = setUp();
    const socket = await platform.connect();
    for (let at = 0; at < 5; at++) socket.sayText('{"type":"draining"}');
    socket.sayBytes(Buffer.from([1, 2, 3]));
    expect(platform.logs).toEqual([
      {
        level: 'warn',
        message: 'dropped a message of the engine: a text message on a connection of the binary form',
      },
    ]);
    expect(socket.ending).toBeUndefined();
  });
});

describe('reconnecting', () => {
  test('[W4] dials repeat without end, each after a wait with full jitter up to 15 s', async () => {
    const { platform, svc } = setUp();
    platform.nextRandom = 0.5;
    for (const waitMs of [250, 500, 1_000, 2_000, 4_000, 7_500, 7_500]) {
      const dials = platform.sockets.length;
      platform.socket.drop();
      expect(svc.state_of_connection).toBe('disconnected');
      await platform.pass(waitMs - 1);
      expect(platform.sockets).toHaveLength(dials);
      await platform.pass(1);
      expect(platform.sockets).toHaveLength(dials + 1);
      expect(svc.state_of_connection).toBe('connecting');
    }
  });

  test('[W4] a connection that lasted resets the waits, and one that closed at once does not', async () => {
    const { platform } = setUp();
    platform.nextRandom = 0.5;
    const nextDialMs = async (): Promise<number> => {
      const dials = platform.sockets.length;
      for (let waitedMs = 0; ; waitedMs += 50) {
        if (platform.sockets.length > dials) return waitedMs;
        await platform.pass(50);
      }
    };
    for (const expectedMs of [250, 500, 1_000]) {
      const socket = await platform.connect();
      socket.drop();
      expect(await nextDialMs()).toBe(expectedMs);
    }
    const socket = await platform.connect();
    await platform.pass(15_000);
    socket.drop();
    expect(await nextDialMs()).toBe(250);
  });

  test('[SDK-7] only the wait for the next dial keeps the process alive', async () => {
    const { platform } = setUp();
    expect(platform.clock.holdingCount).toBe(0);
    const socket = await platform.connect();
    expect(platform.clock.holdingCount).toBe(0);
    socket.drop();
    expect(platform.clock.holdingCount).toBe(1);
    expect(platform.clock.timerCount).toBe(1);
  });

  test('[SDK-7] the events report the first connection, its loss, and every later one', async () => {
    const { platform, svc, events } = setUp();
    const lost: unknown[] = [];
    svc.on('disconnected', (detail) => lost.push(detail));
    const socket = await platform.connect('w-1');
    socket.drop({ code: 1001, reason: 'bye' });
    await platform.pass(15_000);
    await platform.connect('w-2');
    expect(events).toEqual(['connected', 'disconnected', 'reconnected']);
    expect(lost).toEqual([{ code: 1001, reason: 'bye' }]);
    expect(svc.id).toBe('w-2');
  });

  test('[SDK-7] ready waits for the next connection when the last one is lost', async () => {
    const { platform, svc } = setUp();
    const socket = await platform.connect();
    socket.drop();
    let isReady = false;
    const ready = svc.ready().then(() => (isReady = true));
    await platform.pass(15_000);
    expect(isReady).toBe(false);
    await platform.connect('w-2');
    await ready;
  });

  test('[W3] the first frame on a new connection is a reattach', async () => {
    const { platform } = setUp();
    const first = await platform.connect('w-1');
    expect(first.take().map(({ type }) => type)).not.toContain('reattach');
    first.drop();
    await platform.pass(15_000);
    const second = await platform.connect('w-2');
    expect(second.take()[0]).toEqual({
      type: 'reattach',
      previous_worker_id: 'w-1',
      reattach_token: 'token of w-1',
    });
    second.drop();
    await platform.pass(15_000);
    const third = await platform.connect('w-3');
    expect(third.take()[0]).toMatchObject({ type: 'reattach', previous_worker_id: 'w-2' });
  });

  test('[W4] late events of an old socket are ignored', async () => {
    const { platform, svc, events } = setUp();
    const first = await platform.connect('w-1');
    first.take();
    await platform.pass(25_000);
    expect(first.ending).toBe('terminate');
    await platform.pass(15_000);
    const second = await platform.connect('w-2');
    first.say({ type: 'draining' });
    first.say({ type: 'workerregistered', worker_id: 'ghost', reattach_token: 't' });
    first.drop();
    await platform.settle();
    expect(svc.id).toBe('w-2');
    expect(second.ending).toBeUndefined();
    expect(events).toEqual(['connected', 'disconnected', 'reconnected']);
  });
});

describe('liveness', () => {
  test('[W1] the engine is pinged every ten seconds and given up after 25 s of silence', async () => {
    const { platform, svc } = setUp();
    const socket = await platform.connect();
    await platform.pass(9_999);
    expect(socket.pings).toBe(0);
    await platform.pass(1);
    expect(socket.pings).toBe(1);
    await platform.pass(10_000);
    expect(socket.pings).toBe(2);
    await platform.pass(4_999);
    expect(svc.state_of_connection).toBe('connected');
    await platform.pass(1);
    expect(socket.ending).toBe('terminate');
    expect(svc.state_of_connection).toBe('disconnected');
    expect(platform.logs.at(-1)?.message).toContain('nothing heard from it for 25 s');
  });

  test('[W1] any sign of life counts: a message, a ping, a pong, an unreadable frame', async () => {
    const { platform, svc } = setUp();
    const socket = await platform.connect();
    const signs = [() => socket.beAlive(), () => socket.say({ type: 'pong' }), () => socket.sayText('?')];
    for (const sign of signs) {
      await platform.pass(24_999);
      sign();
    }
    await platform.pass(24_999);
    expect(svc.state_of_connection).toBe('connected');
  });

  test('[W1] a process that was blocked does not treat the silence as a lost engine', async () => {
    const { platform, svc } = setUp();
    const socket = await platform.connect();
    platform.clock.block(40_000);
    await platform.pass(0);
    expect(svc.state_of_connection).toBe('connected');
    socket.beAlive();
    await platform.pass(24_999);
    expect(svc.state_of_connection).toBe('connected');
  });

  test('[W1] after a block, a lost engine is detected at the second check', async () => {
    const { platform, svc } = setUp();
    await platform.connect();
    platform.clock.block(40_000);
    await platform.pass(1_000);
    expect(svc.state_of_connection).toBe('disconnected');
  });

  test('[W1] a ping in the form of a message is answered with a pong message', async () => {
    const { platform } = setUp({ announce: false });
    const socket = await platform.connect();
    socket.say({ type: 'ping' });
    await platform.settle();
    expect(socket.take()).toEqual([{ type: 'pong' }]);
  });
});
