import { describe, expect, test } from 'vitest';
import type { ModuleSettings } from '../../../../src/modules/module.ts';
import { type Dialling, TestPort } from '../../../support/engine/worker-port.ts';

const CONFIG = { port: 49_134, host: '127.0.0.1', allowed_origins: ['http://LOCALHOST:3113'] };
const TOKEN = 'x'.repeat(32);
const SECOND = 1000;

describe('a port for workers', () => {
  test('[wire 1.7] A connection on / is a worker, with the SDK of the engine if it asks for its subprotocol', async () => {
    const port = await openPort();
    const [foreign, own] = [port.dial('/'), port.dial('/', { subprotocols: ['svc.json.v1'] })];
    expect(port.engine.context.sessions.size).toBe(2);
    port.engine.flush();
    expect(foreign.socket.takeFrames()).toMatchObject([{ type: 'workerregistered' }]);
    expect(own.socket.takeFrames()).toMatchObject([{ type: 'workerregistered' }]);
    expect([...port.engine.context.sessions.values()].map(({ isOwnSdk }) => isOwnSdk)).toEqual([false, true]);
  });

  test('[wire 1.11] A connection on /otel is not a worker and is sent nothing', async () => {
    const port = await openPort();
    const { socket, events } = port.dial('/otel');
    events.message(bytesOf('OTLP{}'), true);
    events.message(bytesOf('XXXX{}'), true);
    events.message(bytesOf('{"type":"registerfunction","id":"f"}'), false);
    port.engine.flush();
    expect(port.engine.context.sessions.size).toBe(0);
    expect(port.engine.context.functions.get('f')).toBeUndefined();
    expect(socket.texts).toEqual([]);
    expect(port.engine.count('telemetry.dropped', 'observability_off')).toBe(1);
    expect(port.engine.count('telemetry.dropped', 'unknown_prefix')).toBe(2);
  });

  test('[guarantees 4] Workers and telemetry sockets free their places when they leave', async () => {
    const port = await openPort({ connectionsMax: 2 });
    const [worker, telemetry] = [port.dial('/'), port.dial('/otel')];
    expect(port.ask('/').ok).toBe(false);
    for (const { events } of [worker, telemetry]) events.closed(1006);
    for (const path of ['/', '/otel']) port.dial(path);
    expect(port.ask('/').ok).toBe(false);
  });

  test('[guarantees 1.3] A refusal is counted and logged, with the address and without the query', async () => {
    const port = await openPort();
    port.ask('/', { query: 'token=s3cret', headers: { host: 'evil.example' } });
    port.ask(`/${'x'.repeat(10_000)}`);
    expect(port.engine.count('connections.refused', '403')).toBe(1);
    expect(port.engine.count('connections.refused', '404')).toBe(1);
    const [first, second] = port.engine.logLines;
    expect(first).toContain("Host 'evil.example' is not served here");
    expect(first).toContain('address=10.0.0.7');
    expect(first).not.toContain('s3cret');
    expect(second?.length).toBeLessThan(500);
  });

  test('[wire 7] An end of a channel is not a worker, and its messages go to the other end', async () => {
    const port = await openPort({ connectionsMax: 2 }, TOKEN);
    const { writer } = port.engine.context.channels.create(1);
    const query = (dir: string): Dialling => ({ query: `key=${writer.access_key}&dir=${dir}` });
    const path = `/ws/channels/${writer.channel_id}`;
    const mangled = { query: `token=t${path}?key=${writer.access_key}&dir=write` };
    const [source, sink] = [port.dial('/', mangled), port.dial(path, query('read'))];
    source.events.message(bytesOf('{"type":"registerfunction","id":"f"}'), false);
    expect(sink.socket.texts).toEqual(['{"type":"registerfunction","id":"f"}']);
    expect(port.engine.context.sessions.size).toBe(0);
    expect(port.ask(path, query('read'))).toMatchObject({ status: 503 });
    source.events.closed(1000);
    expect(sink.socket.farewell).toMatchObject({ code: 1000 });
    expect(port.ask(path, query('read'))).toMatchObject({ status: 404 });
    const headers = { authorization: `Bearer ${TOKEN}` };
    for (let place = 0; place < 2; place++) expect(port.ask('/', { headers }).ok).toBe(true);
    expect(port.ask('/', { headers }).ok).toBe(false);
  });

  test('[X22] The refusal of an end of a channel is logged without its key', async () => {
    const port = await openPort();
    port.ask('/ws/channels/c-1', { query: 'key=s3cret&dir=read' });
    port.ask('/', { query: 'token=t0ken/ws/channels/c-1?key=s3cret&dir=read' });
    expect(port.engine.logLines).toHaveLength(2);
    expect(port.engine.logLines.join('\n')).not.toMatch(/s3cret|t0ken/);
  });

  test('[X3] Origins of the configuration are compared without regard to capitals', async () => {
    const port = await openPort();
    expect(port.ask('/', { headers: { origin: 'http://localhost:3113' } }).ok).toBe(true);
    expect(port.ask('/', { headers: { origin: 'http://localhost:3114' } }).ok).toBe(false);
  });

  test('[wire 13] Telemetry needs no token while a worker of its address is connected', async () => {
    const port = await openPort({}, TOKEN);
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(port.ask('/otel').ok).toBe(false);
    const workers = [port.dial('/', { headers }), port.dial('/', { headers })];
    expect(port.ask('/otel').ok).toBe(true);
    expect(port.ask('/').ok).toBe(false);
    workers[0]?.events.closed(1000);
    expect(port.ask('/otel').ok).toBe(true);
    workers[1]?.events.closed(1000);
    expect(port.ask('/otel').ok).toBe(false);
  });

  test('[guarantees 3.3] A draining engine admits no connection and gives the reason', async () => {
    const port = await openPort();
    const { socket } = port.dial('/');
    port.engine.context.isDraining = true;
    port.module.drain();
    expect(port.isAccepting).toBe(false);
    expect(port.ask('/')).toMatchObject({ status: 503 });
    expect(socket.isOpen).toBe(true);
  });

  test('[K2] It is healthy while it listens, and reports its address', async () => {
    const port = await openPort();
    expect(port.module.health()).toEqual({ status: 'healthy' });
    expect(port.module.listeners()).toEqual([{ name: 'workers', address: 'ws://127.0.0.1:51234' }]);
  });

  test('[L5] The library may buffer more than the limits of the engine allow', async () => {
    const port = await openPort();
    const { frameBytes, outboundCloseBytes } = port.settings.trusted;
    expect(port.options.bufferedBytesMax).toBeGreaterThan(outboundCloseBytes + frameBytes);
    expect(port.options.frameBytesMax).toBe(frameBytes);
  });
});

describe('silent telemetry sockets', () => {
  test('[W1] They are pinged, and closed after 25 seconds of silence', async () => {
    const port = await openPort();
    const [silent, lively] = [port.dial('/otel'), port.dial('/otel')];
    for (let second = 0; second < 27; second++) {
      lively.events.heard();
      port.engine.advance(SECOND);
    }
    expect(silent.socket.farewell).toBe('terminated');
    expect(silent.socket.pingCount).toBe(2);
    expect(lively.socket.isOpen).toBe(true);
    expect(port.engine.count('connections.closed', 'silent_telemetry')).toBe(1);
  });

  test('[W1] An engine that was suspended for a minute closes none of them', async () => {
    const port = await openPort();
    const { socket } = port.dial('/otel');
    port.engine.advance(5 * SECOND);
    port.engine.clock.stall(60 * SECOND);
    port.engine.advance(SECOND);
    expect(socket.isOpen).toBe(true);
    port.engine.advance(26 * SECOND);
    expect(socket.isOpen).toBe(false);
  });

  test('[W1] Telemetry counts as a sign of life', async () => {
    const port = await openPort();
    const { socket, events } = port.dial('/otel');
    for (let second = 0; second < 60; second++) {
      if (second % 20 === 0) events.message(bytesOf('MTRC{}'), true);
      port.engine.advance(SECOND);
    }
    expect(socket.isOpen).toBe(true);
  });

  test('[W1] A closed one is not pinged', async () => {
    const port = await openPort();
    const { socket, events } = port.dial('/otel');
    events.closed(1000);
    port.engine.advance(60 * SECOND);
    expect(socket.pingCount).toBe(0);
  });
});

/** A port that lets the console's pages in. */
function openPort(limits: Partial<ModuleSettings['trusted']> = {}, bridgeToken?: string): Promise<TestPort> {
  return TestPort.open({ config: CONFIG, limits, settings: { bridgeToken } });
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
