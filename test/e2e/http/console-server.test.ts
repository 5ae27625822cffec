// The console server with a real engine: what it serves, forwards and refuses. Also without an engine, and with one
// that starts and stops.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { TOKEN_SUBPROTOCOL_PREFIX } from '../../../src/console/api/console-server.ts';
import { type ConsoleOptions, checkOptions } from '../../../src/console/server/options.ts';
import { type RunningConsole, startConsole } from '../../../src/console/server/server.ts';
import {
  answerChecks,
  isConsoleInfo,
  isErrorEnvelope,
  isHttpResponse,
} from '../../../src/generated/console-contract.ts';
import { http } from '../../../src/sdk/index.ts';
import { createWorker } from '../../../src/sdk/internal.ts';
import { FrameClient, upgradeRequest } from '../../contract/transport/frame-client.ts';
import { ask } from '../../support/clients/http-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { type ConsoleEngine, LiveClient, startConsoleEngine } from '../../support/telemetry/console-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const TOKEN = 'a-token-of-forty-characters-0123456789ab';

const open: { stop(): Promise<unknown> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

interface Scene {
  readonly engine: ConsoleEngine;
  readonly console: RunningConsole;
  readonly httpPort: number;
}

async function openScene(more: Partial<ConsoleOptions> = {}, top = ''): Promise<Scene> {
  const engine = await startConsoleEngine({ top });
  open.push({ stop: () => engine.drain() });
  const running = await startBefore(engine, more);
  return { engine, console: running, httpPort: Number(new URL(running.url).port) };
}

async function startBefore(
  engine: Pick<ConsoleEngine, 'port' | 'httpPort' | 'streamPort'>,
  more: Partial<ConsoleOptions> = {},
): Promise<RunningConsole> {
  const options: ConsoleOptions = {
    host: '127.0.0.1',
    port: 0,
    engineHost: '127.0.0.1',
    enginePort: engine.httpPort,
    streamPort: engine.streamPort,
    bridgePort: engine.port,
    token: undefined,
    isReadOnly: false,
    hasFlow: false,
    serviceName: 'svc-console',
    ...more,
  };
  const running = await startConsole(options, () => {});
  open.push(running);
  return running;
}

async function infoOf(scene: Pick<Scene, 'httpPort'>) {
  const { text } = await ask(scene, '/console.json');
  const info: unknown = JSON.parse(text);
  if (!isConsoleInfo(info)) throw new Error(`/console.json broke the contract: ${text}`);
  return info;
}

const JSON_BODY = { 'content-type': 'application/json' };

describe('the pages', () => {
  test('[APP-3] [X23] have the security headers on every answer, and a new nonce for each page', async () => {
    const scene = await openScene();
    const nonces = new Set<string>();
    for (const path of ['/', '/functions', '/traces/0af7651916cd43dd8448eb211c80319c']) {
      const { status, headers, text } = await ask(scene, path);
      expect(status).toBe(200);
      const policy = String(headers['content-security-policy']);
      const nonce = /style-src 'self' 'nonce-([\w-]+)'/.exec(policy)?.[1] ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; ");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(text).toContain(nonce);
      expect(text).not.toContain('__SVC_NONCE__');
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(3);
    for (const path of ['/console.json', '/api/status', '/theme.js', '/api/nothing']) {
      const { headers } = await ask(scene, path);
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
  });

  test('let browsers cache files with a hash in their name, not the page, and serve no file outside their folder', async () => {
    const scene = await openScene();
    const { text, headers } = await ask(scene, '/');
    expect(headers['cache-control']).toBe('no-store');
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(text)?.[1] ?? '';
    const asset = await ask(scene, script);
    expect(asset.headers['cache-control']).toContain('immutable');
    // The browser requests the icon at each change of the address, so it caches the icon.
    const icon = await ask(scene, /rel="icon"[^>]* href="([^"]+)"/.exec(text)?.[1] ?? '');
    expect(icon.headers['cache-control']).toContain('immutable');
    expect(icon.headers['content-type']).toBe('image/svg+xml');
    expect(asset.headers['content-type']).toContain('text/javascript');
    expect((await ask(scene, '/assets/nothing.js')).status).toBe(404);
    for (const path of ['/../package.json', '/..%2f..%2fpackage.json', '/assets/..%2f..%2f..%2fpackage.json']) {
      expect((await ask(scene, path)).text).not.toContain('"version"');
    }
  });

  test('[X3] are refused on every path to an unknown Host and to a page of another host', async () => {
    const scene = await openScene();
    const routes = Object.keys(answerChecks).map((name) => name.split(' '));
    for (const [method = '', path = ''] of [...routes, ['POST', '/http-request']]) {
      for (const origin of ['http://evil.example', 'null', `http://localhost:${scene.httpPort}`]) {
        const request = { method, headers: { ...JSON_BODY, origin }, ...(method !== 'GET' && { body: '{}' }) };
        const { status } = await ask(scene, `/api${path.replaceAll(/[{}]/g, '')}`, request);
        expect([method, path, origin, status]).toEqual([method, path, origin, 403]);
      }
    }
    for (const path of ['/', '/console.json', '/api/status']) {
      expect((await ask(scene, path, { headers: { host: 'evil.example' } })).status).toBe(403);
      expect((await ask(scene, path, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
      const own = { host: `localhost:${scene.httpPort}`, origin: `http://localhost:${scene.httpPort}` };
      expect((await ask(scene, path, { headers: own })).status).toBe(200);
    }
    const other = new WebSocket(`ws://127.0.0.1:${scene.httpPort}/api/live`, { origin: 'http://evil.example' });
    const [status] = await new Promise<[number]>((resolve) => {
      other.on('unexpected-response', (_request, response) => resolve([response.statusCode ?? 0]));
      other.on('error', () => {});
    });
    expect(status).toBe(403);
  });
});

describe('requests to the engine', () => {
  test('below /api/ pass percent-encoded names, bodies and headers unchanged', async () => {
    const scene = await openScene();
    const place = `/api/states/${encodeURIComponent('a/b%')}/items/${encodeURIComponent('k:1/2')}`;
    const put = await ask(scene, place, { method: 'PUT', headers: JSON_BODY, body: '{"value":{"n":1.0}}' });
    expect([put.status, put.text]).toEqual([200, expect.stringContaining('"value":{"n":1.0}')]);
    expect((await ask(scene, place)).text).toContain('"key":"k:1/2"');
    const call = { method: 'POST', headers: JSON_BODY, body: '{"function_id":"state::list_groups"}' };
    const invoked = await ask(scene, '/api/invoke', call);
    expect(invoked.headers['x-svc-trace-id']).toMatch(/^[\da-f]{32}$/);
    expect(JSON.parse(invoked.text)).toEqual({ groups: ['a/b%'] });
  });

  test('[API-3] name the console server in their baggage, if it has a service name', async () => {
    for (const serviceName of ['my-console', undefined]) {
      const scene = await openScene({ serviceName });
      const worker = createWorker(scene.engine.url, { handle_signals: false, log: () => {} });
      open.push({ stop: () => worker.shutdown() });
      await worker.ready();
      worker.registerFunction('who', async (_input: unknown, { baggage }) => ({ origin: baggage.get('svc.origin') }));
      const body = '{"function_id":"who"}';
      const text = await waitFor('it is called', async () => {
        const reply = await ask(scene, '/api/invoke', { method: 'POST', headers: JSON_BODY, body });
        return reply.status === 200 && reply.text;
      });
      expect(JSON.parse(text).origin).toBe(serviceName);
    }
  });

  test('of /api/live and /ws/stream open their sockets', async () => {
    const scene = await openScene();
    await using live = await LiveClient.open(`ws://127.0.0.1:${scene.httpPort}/api/live`);
    const id = await live.subscribe('stream:chat');
    const stream = new WebSocket(`ws://127.0.0.1:${scene.httpPort}/ws/stream/chat/room/`);
    const messages: string[] = [];
    stream.on('message', (data) => messages.push(String(data)));
    await live.item(id, 'the join is reported', ({ event }) => event === 'join');
    await waitFor('the snapshot arrives', () => messages.length > 0);
    const { text } = await ask(scene, '/api/streams/chat/room/subscribers');
    expect(JSON.parse(text).items).toHaveLength(1);
    stream.terminate();
    await live.item(id, 'the leave is reported', ({ event }) => event === 'leave');
  });

  test('come from the worker svc-console', async () => {
    const scene = await openScene();
    const names = await waitFor('it is listed', async () => {
      const { text } = await ask(scene, '/api/workers');
      const list: string[] = JSON.parse(text).items.map(({ name }: { name: string }) => name);
      return list.length > 0 && list;
    });
    expect(names).toEqual(['svc-console']);
  });
});

describe('a request to the HTTP port from a page (TRG-3)', () => {
  const send = (scene: Scene, request: unknown, headers = JSON_BODY) =>
    ask(scene, '/api/http-request', { method: 'POST', headers, body: JSON.stringify(request) });

  test('returns the response of the route, and follows no redirect', async () => {
    const scene = await openScene();
    const worker = createWorker(scene.engine.url, { handle_signals: false, log: () => {} });
    open.push({ stop: () => worker.shutdown() });
    await worker
      .registerFunction('page::moved', () => ({
        status_code: 302,
        headers: { location: 'http://127.0.0.1:1/' },
        body: { is: 'moved' },
      }))
      .ready();
    await worker.registerTrigger({ ...http('GET', '/moved'), function_id: 'page::moved' }).ready();
    const { status, text } = await send(scene, { method: 'GET', path: '/moved?a=1', headers: [['x-a', '1']] });
    const value: unknown = JSON.parse(text);
    if (!isHttpResponse(value)) throw new Error(`/api/http-request broke the contract: ${text}`);
    expect([status, value.status, value.body, value.is_cut]).toEqual([200, 302, '{"is":"moved"}', false]);
  });

  test('[X4] is refused for other hosts, for every spelling of /_console, and without JSON', async () => {
    const scene = await openScene();
    const paths = [
      'http://127.0.0.1:1/',
      '//_console/v1/status',
      '/%5fconsole/v1/status',
      '/_console/v1/status?%',
      '/%',
    ];
    for (const path of [...paths, '/./_console/v1/status', '\\_console']) {
      const { status, text } = await send(scene, { method: 'GET', path, headers: [] });
      expect([path, status, isErrorEnvelope(JSON.parse(text))]).toEqual([path, 400, true]);
    }
    const split = { method: 'GET', path: '/', headers: [['x-a', '1\r\nx-b: 2']] };
    expect((await send(scene, split)).status).toBe(400);
    const form = { 'content-type': 'text/plain' };
    expect((await send(scene, { method: 'GET', path: '/', headers: [] }, form)).status).toBe(415);
  });

  test('is answered 504 when the route takes too long', async () => {
    const scene = await openScene();
    const worker = createWorker(scene.engine.url, { handle_signals: false, drain_timeout_ms: 50, log: () => {} });
    open.push({ stop: () => worker.shutdown() });
    await worker.registerFunction('page::late', () => new Promise(() => {})).ready();
    await worker.registerTrigger({ ...http('GET', '/late'), function_id: 'page::late' }).ready();
    const { status, text } = await send(scene, { method: 'GET', path: '/late', headers: [], timeout_ms: 50 });
    expect([status, JSON.parse(text).error.code]).toEqual([504, 'TIMEOUT']);
    expect((await send(scene, { method: 'GET', path: '/late', headers: [], timeout_ms: 0 })).status).toBe(400);
  });
});

describe('the token', () => {
  test('[APP-4] [X23] is required to start on every address', () => {
    const options = { host: '0.0.0.0', token: undefined };
    expect(() => checkOptions({ ...DEFAULTS, ...options })).toThrow(/0\.0\.0\.0.*without a token/);
    expect(() => checkOptions({ ...DEFAULTS, ...options, token: TOKEN })).not.toThrow();
  });

  test.each(['0.0.0.0', '127.0.0.1'])('[APP-4] is required on %s for the API, and not for the pages', async (host) => {
    const scene = await openScene({ host, token: TOKEN }, `bridge_token: ${TOKEN}`);
    expect((await ask(scene, '/')).status).toBe(200);
    expect((await infoOf(scene)).token_required).toBe(true);
    const without = await ask(scene, '/api/status');
    expect(without.status).toBe(401);
    expect(isErrorEnvelope(JSON.parse(without.text))).toBe(true);
    const wrong = { headers: { authorization: 'Bearer wrong' } };
    expect((await ask(scene, '/api/status', wrong)).status).toBe(401);
    const right = { headers: { authorization: `Bearer ${TOKEN}` } };
    expect((await ask(scene, '/api/status', right)).status).toBe(200);
    expect((await ask(scene, `/api/status?token=${TOKEN}`)).status).toBe(401);
  });

  test('[APP-4] may be the first frame of a live socket; a wrong token or another first frame closes it', async () => {
    const scene = await openScene({ host: '0.0.0.0', token: TOKEN }, `bridge_token: ${TOKEN}`);
    const url = `ws://127.0.0.1:${scene.httpPort}/api/live`;
    await using live = await LiveClient.open(url);
    live.send({ op: 'auth', token: TOKEN });
    const id = await live.subscribe('health');
    await live.item(id, 'the socket is admitted', ({ kind }) => kind === 'engine');
    for (const frame of [{ op: 'auth', token: 'wrong' } as const, { op: 'sub', id: 1, topic: 'health' } as const]) {
      await using other = await LiveClient.open(url);
      other.send(frame);
      await waitFor('it is closed', () => other.closeCode === 4401);
      expect(other.frames.every((one) => 'error' in one)).toBe(true);
    }
  });

  test('[APP-4] is not needed for an invalid frame to close only its own socket', async () => {
    const scene = await openScene({ host: '0.0.0.0', token: TOKEN }, `bridge_token: ${TOKEN}`);
    const request = upgradeRequest({ path: '/api/live', host: `127.0.0.1:${scene.httpPort}` });
    await using client = await FrameClient.upgrade(scene.httpPort, request);
    client.socket.write(Buffer.from([0xff, 0x80, 0, 0, 0, 0]));
    await client.ended;
    expect((await ask(scene, '/')).status).toBe(200);
  });

  test('is a subprotocol of a stream socket, and is not passed to the engine', async () => {
    const offered: (string | undefined)[] = [];
    const streams = createServer().on('upgrade', ({ headers }, socket) => {
      offered.push(headers['sec-websocket-protocol']);
      socket.destroy();
    });
    streams.listen(0, '127.0.0.1');
    await once(streams, 'listening');
    open.push({ stop: async () => streams.close() });
    const { port } = streams.address() as AddressInfo;
    const running = await startBefore({ port: 1, httpPort: 1, streamPort: port }, { host: '0.0.0.0', token: TOKEN });
    const url = `${running.url.replace('http://0.0.0.0', 'ws://127.0.0.1')}ws/stream/chat/room/`;
    const offer = `${TOKEN_SUBPROTOCOL_PREFIX}${Buffer.from(TOKEN).toString('base64url')}`;
    await once(new WebSocket(url, [offer, 'svc.stream.v1']), 'close');
    expect(offered).toEqual(['svc.stream.v1']);
    const refused = new WebSocket(url);
    const status = await new Promise<number>((resolve) => {
      refused.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      refused.on('error', () => {});
    });
    expect(status).toBe(401);
    expect(offered).toHaveLength(1);
  });
});

describe('a read-only console', () => {
  test('[APP-5] refuses every request that changes data, and answers those that only read', async () => {
    const scene = await openScene({ isReadOnly: true });
    expect((await infoOf(scene)).read_only).toBe(true);
    const changing: [string, string][] = [
      ['POST', '/api/invoke'],
      ['POST', '/api/events/emit'],
      ['PUT', '/api/states/s/items/k'],
      ['DELETE', '/api/states/s/items/k'],
      ['POST', '/api/states/s/items/k/update'],
      ['POST', '/api/queues/default/dlq/redrive'],
      ['POST', '/api/queues/default/pause'],
      ['DELETE', '/api/traces'],
      ['DELETE', '/api/logs'],
      ['PUT', '/api/flow/layout/main'],
      ['POST', '/api/alerts/evaluate'],
    ];
    for (const [method, path] of changing) {
      const reply = await ask(scene, path, { method, headers: JSON_BODY, body: '{}' });
      expect([method, path, reply.status]).toEqual([method, path, 403]);
      expect(reply.text).toContain('--read-only');
    }
    expect((await ask(scene, '/api/functions')).status).toBe(200);
    const search = { method: 'POST', headers: JSON_BODY, body: '{}' };
    // A search only reads, although it is a POST.
    expect((await ask(scene, '/api/logs/search', search)).status).toBe(200);
  });
});

describe('a console without an engine', () => {
  test.each([
    ['an engine on an IPv6 address', '::1', '/api/live'],
    ['a stream whose name has a #', '127.0.0.1', '/ws/stream/chat/room#1'],
  ])('[APP-1] closes a socket to %s with 1013', async (_where, engineHost, path) => {
    const running = await startBefore({ port: 1, httpPort: 1, streamPort: 1 }, { engineHost });
    const scene = { httpPort: Number(new URL(running.url).port) };
    const request = upgradeRequest({ path, host: `127.0.0.1:${scene.httpPort}` });
    await using page = await FrameClient.upgrade(scene.httpPort, request);
    expect(await page.goodbye()).toMatchObject({ code: 1013 });
    expect((await infoOf(scene)).engine.http_url).toMatch(/^http:\/\/(127\.0\.0\.1|\[::1\]):1$/);
  });

  test('[APP-1] starts, shows the address it tries, and connects when an engine starts', async () => {
    const [port, httpPort] = [await freePort(), await freePort()];
    const running = await startBefore({ port, httpPort, streamPort: 1 });
    const scene = { httpPort: Number(new URL(running.url).port) };
    expect((await ask(scene, '/')).status).toBe(200);
    const before = await infoOf(scene);
    expect(before.engine).toMatchObject({ connected: false, http_url: `http://127.0.0.1:${httpPort}` });
    expect(before.engine.hint).toContain('svc --config');
    const refused = await ask(scene, '/api/status');
    expect(refused.status).toBe(502);
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'ENGINE_UNREACHABLE' } });
    await using live = await LiveClient.open(`ws://127.0.0.1:${scene.httpPort}/api/live`);
    await waitFor('the live socket is closed', () => live.closeCode === 1013);

    const engine = await startConsoleEngine({ port, httpPort });
    await waitFor('the bridge is connected', async () => (await infoOf(scene)).engine.connected, 10_000);
    expect((await ask(scene, '/api/status')).status).toBe(200);

    await engine.drain();
    await waitFor('the console has noticed the loss', async () => !(await infoOf(scene)).engine.connected, 10_000);
    expect((await ask(scene, '/api/status')).status).toBe(502);
  });
});

const DEFAULTS: ConsoleOptions = {
  host: '127.0.0.1',
  port: 0,
  engineHost: '127.0.0.1',
  enginePort: 1,
  streamPort: 1,
  bridgePort: 1,
  token: undefined,
  isReadOnly: false,
  hasFlow: false,
  serviceName: undefined,
};
