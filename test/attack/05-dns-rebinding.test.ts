// The host name of an attacker's page resolves to 127.0.0.1, and the page requests the HTTP port under that name. To
// the browser it is one origin, so neither CORS nor Origin prevents it. Only the Host header shows it.

import { connect } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ask, type HttpEngine, startHttpEngine } from '../support/clients/http-engine.ts';
import { RawWorker } from '../support/clients/raw-worker.ts';
import { within } from '../support/wait-for.ts';

const TOKEN = 'a-token-that-is-long-enough-for-this';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** An engine with a route that counts the runs of its handler. */
async function withHandler(transport: string, { http = '', top = '' } = {}) {
  vi.stubEnv('SVC_TRANSPORT', transport);
  const engine = await startHttpEngine(http, { top });
  const headers: Record<string, string> = top.includes(TOKEN) ? { authorization: `Bearer ${TOKEN}` } : {};
  const worker = await RawWorker.connect(engine.url, { headers });
  let runs = 0;
  await worker.serve('orders::pay', () => {
    runs++;
    return { body: 'paid' };
  });
  for (const http_method of ['GET', 'POST']) {
    const config = { api_path: '/pay', http_method };
    worker.send({ type: 'registertrigger', id: http_method, trigger_type: 'http', function_id: 'orders::pay', config });
  }
  await worker.settled();
  return { engine, runs: () => runs, [Symbol.asyncDispose]: () => engine.drain() };
}

/** The first line of the answer to these bytes; empty if the connection ends without one. */
async function firstLine({ httpPort }: HttpEngine, bytes: string): Promise<string> {
  const socket = connect(httpPort, '127.0.0.1');
  socket.on('error', () => {});
  try {
    return await within(
      5_000,
      'the request is answered',
      new Promise<string>((resolve) => {
        socket.setEncoding('latin1').once('data', (text: string) => resolve(text.split('\r\n', 1)[0] ?? ''));
        socket.once('close', () => resolve(''));
        socket.write(bytes, 'latin1');
      }),
    );
  } finally {
    socket.destroy();
  }
}

const REBOUND = [
  'evil.example',
  'EVIL.example',
  'evil.example:3111',
  'evil.example.',
  'localhost.evil.example',
  'xlocalhost',
  'localhost.',
  '127.0.0.1.nip.io',
  '127.0.0.1.',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '127.0.0.256',
  '128.0.0.1',
  '0.0.0.0',
  '192.168.0.7',
  '[2001:db8::7]',
  '::1',
  'localhost@evil.example',
  'evil.example@localhost',
  'localhost:80@evil.example',
  'localhost,evil.example',
  'evil.example,localhost',
  'evil.example/.localhost',
  'evil.example?.localhost',
  'evil.example#.localhost',
  'evil.example\\.localhost',
  'evil.example:80.localhost',
  'evil example.localhost',
  '.localhost',
  'a..localhost',
  'xn--lcalhost-9za',
  'svc.internal.evil.example',
];

const OWN = [
  'localhost',
  'LOCALHOST:3111',
  'shop.localhost',
  'a.b-c.localhost:5173',
  '127.0.0.1',
  '127.9.8.7:80',
  '[::1]',
  '[::1]:3111',
  '[0:0:0:0:0:0:0:1]',
  'svc.internal',
  'SVC.Internal:443',
];

describe.each(['uws', 'ws'])('a request under another host name, on %s', (transport) => {
  test('runs no handler for any spelling of Host, and is answered with the setting that allows it', async () => {
    await using parts = await withHandler(transport, { top: 'allowed_hosts: [SVC.internal]' });
    for (const host of REBOUND) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await ask(parts.engine, '/pay', { method, headers: { host } });
        expect(answer, `${method} ${host}`).toMatchObject({
          status: 403,
          text: expect.stringMatching(/"code":"FORBIDDEN".*is not served here; name it in allowed_hosts/),
        });
      }
    }
    expect(parts.runs()).toBe(0);
    for (const host of OWN)
      expect(await ask(parts.engine, '/pay', { headers: { host } }), host).toMatchObject({ status: 200 });
    expect(parts.runs()).toBe(OWN.length);
  });

  test('is refused on every other path of the port', async () => {
    await using parts = await withHandler(transport, { http: 'not_found_function: orders::pay' });
    const paths = ['/', '/none', '/%zz', '/healthz', '/readyz', '/metrics', '/_console/v1/status', '/_console/none'];
    for (const path of paths) {
      const answer = await ask(parts.engine, path, { headers: { host: 'evil.example' } });
      expect(answer, path).toMatchObject({ status: 403, text: expect.stringContaining('allowed_hosts') });
    }
    expect(parts.runs()).toBe(0);
  });

  test('is refused whatever headers the page sets', async () => {
    await using parts = await withHandler(transport, { top: `bridge_token: ${TOKEN}` });
    const tricks = {
      'x-forwarded-host': 'localhost',
      'x-forwarded-for': '127.0.0.1',
      'x-real-ip': '127.0.0.1',
      'x-host': 'localhost',
      forwarded: 'host=localhost',
      'sec-fetch-site': 'same-origin',
      origin: 'http://evil.example',
      authorization: `Bearer ${TOKEN}`,
    };
    for (const [name, value] of Object.entries(tricks)) {
      const answer = await ask(parts.engine, '/pay', { headers: { host: 'evil.example', [name]: value } });
      expect(answer.status, name).toBe(403);
    }
    expect(parts.runs()).toBe(0);
  });

  test('runs no handler without Host, with two of them, or with a URL as target', async () => {
    await using parts = await withHandler(transport);
    const heads = [
      'GET /pay HTTP/1.1\r\n',
      'GET /pay HTTP/1.1\r\nHost:\r\n',
      'GET /pay HTTP/1.1\r\nHost: evil.example\r\nHost: localhost\r\n',
      'GET /pay HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n',
      'GET /pay HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n',
      'GET /pay HTTP/1.1\r\nHost: localhost\r\n evil.example\r\n',
      'GET /pay HTTP/1.0\r\nHost: localhost\r\n',
      'GET /pay HTTP/1.0\r\n',
      'GET http://evil.example/pay HTTP/1.1\r\nHost: localhost\r\n',
      'GET http://localhost/pay HTTP/1.1\r\nHost: evil.example\r\n',
      'GET //evil.example/pay HTTP/1.1\r\nHost: localhost\r\n',
    ];
    for (const head of heads) {
      const line = await firstLine(parts.engine, `${head}Connection: close\r\n\r\n`);
      expect(line, head).toMatch(/^(HTTP\/1\.1 (400|403|404|505) .*)?$/);
    }
    expect(parts.runs()).toBe(0);
  });

  test('is served if a proxy of trusted_proxies forwards it, except for the console', async () => {
    await using parts = await withHandler(transport, { top: 'trusted_proxies: [127.0.0.0/8]' });
    expect(await ask(parts.engine, '/pay', { headers: { host: 'shop.example' } })).toMatchObject({ status: 200 });
    // The console is only for this machine.
    const own = await ask(parts.engine, '/_console/v1/status', { headers: { host: 'shop.example' } });
    expect(own.status).toBe(403);
  });

  test('is served by a port on every address, except for the console and the metrics', async () => {
    await using parts = await withHandler(transport, { http: 'host: 0.0.0.0', top: `bridge_token: ${TOKEN}` });
    expect(await ask(parts.engine, '/pay', { headers: { host: 'shop.example' } })).toMatchObject({ status: 200 });
    for (const path of ['/_console/v1/status', '/metrics']) {
      expect((await ask(parts.engine, path, { headers: { host: 'shop.example' } })).status, path).toBe(403);
    }
  });
});
