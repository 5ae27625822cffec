// Which requests may open a connection on a worker port. Each request has its own socket.

import { networkInterfaces } from 'node:os';
import { describe, expect, test, vi } from 'vitest';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { getPage, tryUpgrade, type UpgradeOptions } from '../../support/clients/upgrade.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { startTestEngine } from '../../support/engine/test-engine.ts';
import { TurningClock } from '../../support/fakes/turning-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

const TOKEN = 'correct-horse-battery-staple-0123456789';
const WITH_TOKEN = { authorization: `Bearer ${TOKEN}` };
const PATHS = ['/', '/otel'] as const;

function onePort(config: string, settings = ''): string {
  return `drain_timeout_ms: 100\n${settings}\nworkers:\n  - name: svc-worker-manager\n    config: {port: 0, ${config}}\n`;
}

/** Every address of the machine; the engine accepts it only with a token. */
const OPEN_PORT = onePort('host: 0.0.0.0', `bridge_token: ${TOKEN}`);

describe('the address of a worker port', () => {
  test('[X1] a port without a host listens only on 127.0.0.1', async () => {
    await using engine = await startTestEngine();
    expect(new URL(engine.url).hostname).toBe('127.0.0.1');
    expect(await tryUpgrade(engine.port)).toMatchObject({ status: 101 });
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ scopeid, address }) => !scopeid && address !== '127.0.0.1')
      .map(({ address }) => address);
    for (const host of new Set(['127.0.0.2', ...others])) {
      const options = { host, headers: { host: '127.0.0.1' } };
      await expect(tryUpgrade(engine.port, options), host).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    }
  });

  test('[X1] the address of an IPv6 port is a URL that clients can use', async () => {
    await using engine = await startTestEngine({ yaml: onePort('host: "::1"') });
    expect(engine.url).toBe(`ws://[::1]:${engine.port}`);
    await using worker = await RawWorker.connect(engine.url);
    await worker.settled();
  });

  test.each(['0.0.0.0', '"::"', '192.168.0.7', 'engine.example'])(
    '[X2] listening on %s without bridge_token is a start error that names the entry',
    async (host) => {
      await expect(startTestEngine({ yaml: onePort(`host: ${host}`) })).rejects.toMatchObject({
        name: 'StartFailure',
        exitCode: 78,
        message: expect.stringMatching(
          /^svc-config\.yaml:\d+:\d+: workers\[0\]\.config\.host: .* Set bridge_token \(at least 32 bytes\)/,
        ),
      });
    },
  );

  test('[X2] a token shorter than 32 bytes is refused by an error that does not quote it', async () => {
    const yaml = onePort('host: 0.0.0.0', 'bridge_token: short-token-of-22-bytes');
    const refusal = startTestEngine({ yaml });
    await expect(refusal).rejects.toThrow(/bridge_token.*at least 32/s);
    await expect(refusal).rejects.not.toThrow('short-token');
  });
});

describe('the token of a worker port', () => {
  test.each([
    ['the right one', WITH_TOKEN, 101],
    ['the right one after a scheme in small letters', { authorization: `bearer ${TOKEN}` }, 101],
    ['none', {}, 401],
    ['an empty one', { authorization: 'Bearer ' }, 401],
    ['a wrong one of the same length', { authorization: `Bearer ${TOKEN.slice(0, -1)}x` }, 401],
    ['its beginning', { authorization: `Bearer ${TOKEN.slice(0, 32)}` }, 401],
    ['more than it', { authorization: `Bearer ${TOKEN}x` }, 401],
    ['it twice', { authorization: `Bearer ${TOKEN} ${TOKEN}` }, 401],
    ['it under another scheme', { authorization: `Basic ${TOKEN}` }, 401],
    ['it without a scheme', { authorization: TOKEN }, 401],
    ['it in another header', { 'x-api-key': TOKEN }, 401],
    ['it as a subprotocol', { 'sec-websocket-protocol': `Authorization, ${TOKEN}` }, 401],
    ['it as a cookie', { cookie: `token=${TOKEN}` }, 401],
  ])('[X2] %s is admitted or refused alike on every path', async (_case, headers: Record<string, string>, status) => {
    await using engine = await startTestEngine({ yaml: OPEN_PORT });
    for (const path of PATHS) expect(await tryUpgrade(engine.port, { path, headers }), path).toMatchObject({ status });
  });

  test('[X2] the token is not read from the address', async () => {
    await using engine = await startTestEngine({ yaml: OPEN_PORT });
    for (const path of [`/?token=${TOKEN}`, `/?bridge_token=${TOKEN}`, `/?authorization=Bearer%20${TOKEN}`]) {
      expect(await tryUpgrade(engine.port, { path })).toMatchObject({ status: 401 });
    }
  });

  test('[X2] a token that is set is required on a loopback port too', async () => {
    await using engine = await startTestEngine({ yaml: onePort('host: 127.0.0.1', `bridge_token: ${TOKEN}`) });
    expect(await tryUpgrade(engine.port)).toMatchObject({ status: 401 });
    expect(await tryUpgrade(engine.port, { headers: WITH_TOKEN })).toMatchObject({ status: 101 });
  });

  test('[X2] the published iii client sends the token in a header', async () => {
    vi.spyOn(console, 'debug').mockReturnValue(undefined);
    await using engine = await startTestEngine({ yaml: OPEN_PORT });
    await using client = new IiiClient(`ws://127.0.0.1:${engine.port}`, { headers: WITH_TOKEN });
    await client.ready();
  });

  test('[wire 13] a telemetry socket needs no token while a worker of the same address is connected', async () => {
    await using engine = await startTestEngine({ yaml: OPEN_PORT });
    const telemetry = (options: UpgradeOptions = {}) => tryUpgrade(engine.port, { ...options, path: '/otel' });
    const url = `ws://127.0.0.1:${engine.port}`;
    expect(await telemetry()).toMatchObject({ status: 401 });
    const worker = await RawWorker.connect(url, { headers: WITH_TOKEN });
    await waitFor('the address is known', async () => (await telemetry()).status === 101);
    expect(await telemetry({ headers: { authorization: 'Bearer guess' } })).toMatchObject({ status: 401 });
    expect(await telemetry({ from: '127.0.0.2' })).toMatchObject({ status: 401 });
    // A telemetry socket is no worker.
    await using socket = await RawWorker.open(url, { path: '/otel' });
    worker.close();
    await worker.closed;
    expect(await telemetry()).toMatchObject({ status: 401 });
    expect(socket.socket.readyState).toBe(socket.socket.OPEN);
  });

  test('[X22] no token is written to the log, whether right or wrong', async () => {
    // Other routers write their log lines themselves.
    await using engine = await startTestEngine({ yaml: OPEN_PORT, threads: 1 });
    const guess = 'guessed-token-0123456789-abcdefghijk';
    const secrets = [TOKEN, guess];
    for (const secret of secrets) {
      for (const path of [...PATHS, `/?token=${secret}`, `/unknown?token=${secret}`]) {
        await tryUpgrade(engine.port, { path, headers: { authorization: `Bearer ${secret}` } });
        await tryUpgrade(engine.port, { path, headers: { 'sec-websocket-protocol': `Authorization, ${secret}` } });
        await getPage(engine.port, { path });
      }
    }
    const url = `ws://127.0.0.1:${engine.port}`;
    await using worker = await RawWorker.connect(url, { headers: WITH_TOKEN });
    worker.send({ type: 'reattach', previous_worker_id: worker.workerId, reattach_token: guess });
    worker.send({ type: 'registerfunction', id: 7, metadata: { token: TOKEN } });
    worker.sendText(`{"type":"invokefunction","data":{"password":"${guess}"`);
    await worker.settled();
    expect(engine.log.filter((line) => line.includes('WARN')).length).toBeGreaterThan(10);
    const log = engine.log.join('\n');
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});

describe('the Host and Origin of a request', () => {
  const servedHosts = [
    'localhost',
    '127.0.0.1',
    '127.9.8.7',
    '[::1]',
    'localhost:1',
    'LOCALHOST:49134',
    // Name servers hand out nothing below localhost, and browsers ask none for it.
    'app.localhost:5173',
    'svc.internal:80',
  ];
  const strangeHosts = [
    'evil.example',
    'evil.example:49134',
    'localhost.evil.example',
    'evil.example:80.localhost',
    '127.0.0.1.nip.io',
    'localhost.',
    '0.0.0.0',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '127.0.0.1@evil.example',
    '[::ffff:127.0.0.1]',
    'svc.internal.evil.example',
    'xn--lcalhost-9za',
  ];
  const listedOrigins = ['https://console.example', 'HTTPS://Console.Example'];
  const strangeOrigins = [
    'http://evil.example',
    'https://console.example.evil.example',
    'https://evil-console.example',
    'http://console.example',
    'https://console.example:8443',
    'https://console.example/',
    'http://localhost',
    'http://127.0.0.1:49134',
    'http://localhost:3113',
    'file://',
    'null',
    '*',
  ];
  const yaml = onePort('allowed_origins: ["https://console.example"]', 'allowed_hosts: [SVC.internal]');

  test('[X3] a Host that any name server can point at this machine is refused on every path, with any Origin', async () => {
    await using engine = await startTestEngine({ yaml });
    for (const path of PATHS) {
      for (const host of servedHosts) {
        expect(await tryUpgrade(engine.port, { path, headers: { host } }), host).toMatchObject({ status: 101 });
      }
      for (const host of strangeHosts) {
        const answer = await tryUpgrade(engine.port, { path, headers: { host } });
        expect(answer, host).toMatchObject({ status: 403, text: expect.stringContaining('name it in allowed_hosts') });
        const listed = { host, origin: 'https://console.example' };
        expect(await tryUpgrade(engine.port, { path, headers: listed }), host).toMatchObject({ status: 403 });
      }
    }
  });

  test('[X3] a web page passes only when its whole Origin is in allowed_origins', async () => {
    await using engine = await startTestEngine({ yaml });
    for (const path of PATHS) {
      for (const origin of listedOrigins) {
        expect(await tryUpgrade(engine.port, { path, headers: { origin } }), origin).toMatchObject({ status: 101 });
      }
      for (const origin of strangeOrigins) {
        const answer = await tryUpgrade(engine.port, { path, headers: { origin } });
        expect(answer, origin).toMatchObject({
          status: 403,
          text: expect.stringContaining('name it in allowed_origins'),
        });
      }
    }
    await expectCount(engine, 2 * strangeOrigins.length, 'connections.refused', '403');
  });

  test('[X3] by default only the pages of the console pass', async () => {
    await using engine = await startTestEngine();
    const statusFor = async (origin: string) => (await tryUpgrade(engine.port, { headers: { origin } })).status;
    expect(await statusFor('http://127.0.0.1:3113')).toBe(101);
    expect(await statusFor('http://localhost:3113')).toBe(101);
    expect(await statusFor(`http://127.0.0.1:${engine.port}`)).toBe(403);
    expect(await statusFor('http://localhost:3000')).toBe(403);
  });

  test('[X3] an unknown Host or Origin is refused even with the right token', async () => {
    await using engine = await startTestEngine({ yaml: OPEN_PORT });
    for (const strange of [{ host: 'evil.example' }, { origin: 'http://evil.example' }]) {
      const headers = { ...WITH_TOKEN, ...strange };
      expect(await tryUpgrade(engine.port, { headers })).toMatchObject({ status: 403 });
    }
  });

  test('[X3] a port on every address serves every address, and no name that is not in allowed_hosts', async () => {
    await using engine = await startTestEngine({ yaml: OPEN_PORT });
    const statusFor = async (host: string) =>
      (await tryUpgrade(engine.port, { headers: { ...WITH_TOKEN, host } })).status;
    for (const host of ['203.0.113.9:49134', '[2001:db8::7]', '127.0.0.1']) expect(await statusFor(host)).toBe(101);
    for (const host of ['evil.example', '203.0.113.9.nip.io']) expect(await statusFor(host)).toBe(403);
  });
});

describe('a request that gets no socket', () => {
  test('[wire 1.2] an unknown path is 404, with and without an upgrade', async () => {
    await using engine = await startTestEngine();
    for (const path of ['/unknown', '/otel/', '//', '/../otel', '/ws/channels/x?key=k&dir=read', '/OTEL']) {
      expect(await tryUpgrade(engine.port, { path }), path).toMatchObject({ status: 404 });
      expect(await getPage(engine.port, { path }), path).toMatchObject({ status: 404 });
    }
  });

  test('[wire 1.2] a long path is cut in the log line', async () => {
    await using engine = await startTestEngine({ threads: 1 });
    await tryUpgrade(engine.port, { path: `/${'x'.repeat(8_000)}` });
    expect(engine.log.at(-1)?.length).toBeLessThan(300);
  });

  test('[wire 1.2] a plain GET is answered 426 and that the port speaks WebSocket', async () => {
    await using engine = await startTestEngine();
    for (const path of ['/', '/?a=b', '/otel']) {
      expect(await getPage(engine.port, { path })).toMatchObject({ status: 426, text: 'This port speaks WebSocket' });
    }
  });

  test('[wire 10.1] any query and any further headers are accepted', async () => {
    await using engine = await startTestEngine();
    const headers = { 'x-tenant': 'acme', authorization: 'Bearer not-needed', cookie: 'a=b' };
    expect(await tryUpgrade(engine.port, { path: '/?token=abc&x[]=%00', headers })).toMatchObject({ status: 101 });
  });

  test('[wire 1.3] the engine agrees to no compression, and only to its own subprotocols', async () => {
    await using engine = await startTestEngine();
    const headers = { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' };
    const plain = await tryUpgrade(engine.port, { headers });
    expect(plain.headers).not.toHaveProperty('sec-websocket-extensions');
    expect(plain.headers).not.toHaveProperty('sec-websocket-protocol');
    const offer = { 'sec-websocket-protocol': 'chat, svc.json.v1' };
    const { headers: chosen } = await tryUpgrade(engine.port, { headers: offer });
    expect(chosen['sec-websocket-protocol']).toBe('svc.json.v1');
  });

  test('[wire 1.2] a connection over the limit is answered 503 until another one leaves', async () => {
    await using engine = await startTestEngine({ yaml: onePort('', 'limits: {trusted: {connections: 2}}') });
    await using first = await RawWorker.connect(engine.url);
    await using telemetry = await RawWorker.open(engine.url, { path: '/otel' });
    expect(await tryUpgrade(engine.port)).toMatchObject({ status: 503, text: expect.stringContaining('OVERLOADED') });
    expect(await tryUpgrade(engine.port, { path: '/otel' })).toMatchObject({ status: 503 });
    await first.settled();
    telemetry.close();
    await waitFor('a connection is admitted', async () => (await tryUpgrade(engine.port)).status === 101);
    await waitFor('the refusals are counted', () => engine.counters.get('connections.refused', '503') >= 2);
  });

  test('[wire 1.2] connections over the rate limit are answered 429 until the next second', async () => {
    const clock = new TurningClock();
    const yaml = onePort('', 'limits: {trusted: {connections_per_second: 3}}');
    await using engine = await startTestEngine({ yaml, clock });
    const statuses = async (count: number) => {
      const answers = [];
      for (let request = 0; request < count; request++) answers.push((await tryUpgrade(engine.port)).status);
      return answers;
    };
    expect(await statuses(5)).toEqual([101, 101, 101, 429, 429]);
    clock.advance(999);
    expect(await statuses(1)).toEqual([429]);
    clock.advance(1);
    // A request that is refused for another reason does not count.
    await tryUpgrade(engine.port, { headers: { origin: 'http://evil.example' } });
    await tryUpgrade(engine.port, { path: '/unknown' });
    expect(await statuses(4)).toEqual([101, 101, 101, 429]);
  });
});
