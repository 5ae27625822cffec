// Ways around the auth function of a port: a socket opens only for a valid answer of a trusted worker, in time, and
// about that handshake.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { tryUpgrade } from '../../support/clients/upgrade.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { connectPage, restrictedUrl } from '../restricted-page.ts';

const YAML = `drain_timeout_ms: 100
limits: {browser: {ask_timeout_ms: 1000}}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {auth_function_id: auth, expose_functions: ['match("api::*")']}}}
`;

/** The members after the function id in the answer. Some are not valid JSON objects of any library. */
const MALFORMED: readonly string[] = [
  '"result":null',
  '"result":true',
  '"result":1',
  '"result":"ok"',
  '"result":"{\\"context\\":{}}"',
  '"result":[]',
  '"result":[{"context":{}}]',
  '"result":{}',
  '"result":{"context":null}',
  '"result":{"context":null,"allowed_functions":null}',
  '"result":{"context":{},"context":null}',
  '"result":{"context":[]}',
  '"result":{"context":"admin"}',
  '"result":{"context":{},"admin":true}',
  '"result":{"Context":{}}',
  '"result":{"context ":{}}',
  '"result":{"context":{},"error":"no"}',
  '"result":{"allowed_functions":"*"}',
  '"result":{"allowed_functions":[1]}',
  '"result":{"allowed_functions":{"0":"api::x","length":1}}',
  '"result":{"forbidden_functions":"secret::x","context":{}}',
  '"result":{"allowed_trigger_types":true}',
  '"result":{"allow_function_registration":"false"}',
  '"result":{"allow_trigger_type_registration":1}',
  '"result":{"function_registration_prefix":7}',
  '"result":{"function_registration_prefix":""}',
  '"result":{"function_registration_prefix":"a\\nb"}',
  '"result":{"namespaces":["*"]}',
  '"result":{"namespaces":{"default":"*"}}',
  '"result":{"namespaces":{"default":["*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*"]}}',
  '"result":{"__proto__":{"context":{}}}',
  '"result":{"__proto__":null}',
  '"result":{"constructor":{"prototype":{"context":{}}}}',
  '"result":{"toString":"x","context":{}}',
  `"result":${'['.repeat(127)}${']'.repeat(127)}`,
  '"error":{"code":"no","message":"no"}',
  '"error":{"code":"no","message":"no"},"result":{"context":{}}',
  '"error":"no","result":{"context":{}}',
  '"resultt":{"context":{}}',
  '"data":{"context":{}}',
];

describe.each(['uws', 'ws'])('the auth function on %s', (transport) => {
  let engine: TestEngine;
  let auth: RawWorker;
  let asked: Promise<unknown>[] = [];

  beforeAll(async () => {
    vi.stubEnv('SVC_TRANSPORT', transport);
    engine = await startTestEngine({ yaml: YAML });
  });

  beforeEach(async () => {
    auth = await RawWorker.connect(engine.url);
    await auth.register('auth');
    asked = [];
    return async () => {
      await auth[Symbol.asyncDispose]();
      await Promise.all(asked);
    };
  });

  afterAll(() => engine?.drain());

  const port = (): number => Number(new URL(restrictedUrl(engine)).port);

  /** A handshake: the call of the auth function for it, and its status. */
  async function handshake(path = '/', headers: Record<string, string> = {}) {
    const answer = tryUpgrade(port(), { path, headers });
    asked.push(answer);
    const call = await auth.next('invokefunction');
    return { call, input: Object(call.data) as Input, status: async () => (await answer).status };
  }

  const grant = (call: Frame, result: unknown = { context: {} }): void => auth.answer(call, { result });

  describe('opens no socket with the invalid answer', () => {
    test.each(MALFORMED)('%s', async (members) => {
      const { call, status } = await handshake();
      auth.sendText(
        `{"type":"invocationresult","invocation_id":${JSON.stringify(call.invocation_id)},"function_id":"auth",${members}}`,
      );
      expect(await status()).toBe(401);
      const after = await handshake();
      grant(after.call);
      expect(await after.status()).toBe(101);
    });
  });

  describe('opens no socket when it', () => {
    test('is not registered', async () => {
      auth.send({ type: 'unregisterfunction', id: 'auth' });
      await auth.settled();
      expect(await tryUpgrade(port())).toMatchObject({ status: 401 });
    });

    test('never answers', async () => {
      const { status } = await handshake();
      expect(await status()).toBe(401);
    });

    test('answers too late', async () => {
      const before = engine.counters.get('connections.refused', '401');
      const { call, status } = await handshake();
      expect(await status()).toBe(401);
      grant(call);
      await auth.settled();
      expect(engine.counters.get('connections.refused', '401')).toBe(before + 1);
    });

    test('is lost during its call', async () => {
      const { status } = await handshake();
      auth.socket.terminate();
      expect(await status()).toBe(401);
    });

    test('refuses and then grants', async () => {
      const { call, status } = await handshake();
      auth.answer(call, { result: null });
      grant(call);
      expect(await status()).toBe(401);
    });

    test('refuses after another worker granted in its place', async () => {
      await using other = await RawWorker.connect(engine.url);
      const { call, status } = await handshake();
      other.answer(call, { result: { context: {} } });
      await other.settled();
      auth.answer(call, { result: null });
      expect(await status()).toBe(401);
    });

    test('does not answer, but a connected page grants', async () => {
      await using page = await enter();
      const { call, status } = await handshake();
      page.answer(call, { result: { context: {} } });
      await page.settled();
      expect(await status()).toBe(401);
    });

    test('is registered by a page while its worker is away', async () => {
      await using page = await enter();
      auth.socket.terminate();
      await auth.closed;
      await using other = await RawWorker.connect(engine.url);
      await waitFor('the page has registered the function', async () => {
        page.send({ type: 'registerfunction', id: 'auth' });
        await page.settled();
        const wasRefused = page.frames.splice(0).some(({ type }) => type === 'registrationrejected');
        // The same holds after a trusted worker has released the id.
        if (wasRefused) await other.call('engine::reservations::release', { kind: 'function', name: 'auth' });
        return !wasRefused;
      });
      expect(await tryUpgrade(port())).toMatchObject({ status: 401 });
      expect(page.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
    });

    test('refuses this handshake and grants another one at the same time', async () => {
      const [first, second] = [await handshake('/?who=first'), await handshake('/?who=second')];
      grant(second.call);
      auth.answer(first.call, { result: null });
      expect([await first.status(), await second.status()]).toEqual([401, 101]);
    });

    test('refuses, on any path of the port', async () => {
      for (const path of ['/otel', '/?token=x/otel', '/otel?token=x']) {
        const { call, status } = await handshake(path);
        auth.answer(call, { result: null });
        expect(await status()).toBe(401);
      }
    });
  });

  describe('gets input that', () => {
    test.each([
      ['/?token=bad&token=good', { token: ['bad', 'good'] }],
      ['/?token[]=good', { 'token[]': ['good'] }],
      ['/?TOKEN=good', { TOKEN: ['good'] }],
      ['/?token=a%00b', { token: ['a\u0000b'] }],
      ['/?token=%FF', { token: ['\ufffd'] }],
      ['/?token=a+b%2Bc', { token: ['a b+c'] }],
      ['/?token=good;admin=1', { token: ['good;admin=1'] }],
      ['/?token', { token: [''] }],
      ['/??token=good', { '?token': ['good'] }],
    ])('has the query of %s unchanged', async (path, expected) => {
      const { call, input, status } = await handshake(path);
      grant(call, null);
      expect(input.query_params).toEqual(expected);
      expect(await status()).toBe(401);
    });

    test('has prototype keys as plain data', async () => {
      const { call, input, status } = await handshake('/?__proto__=1&constructor=2&hasOwnProperty=3', {
        ...{ constructor: 'c', 'x-admin': 'no' },
      });
      grant(call, null);
      await status();
      expect(Object.keys(input.query_params).sort()).toEqual(['__proto__', 'constructor', 'hasOwnProperty']);
      expect(input.headers.constructor).toBe('c');
      expect(Object(input).admin).toBeUndefined();
    });

    test('has the address of the connection, whatever its headers claim', async () => {
      const lies = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'];
      const { call, input, status } = await handshake(
        '/',
        Object.fromEntries(lies.map((name) => [name, '203.0.113.9'])),
      );
      grant(call, null);
      await status();
      expect(input.ip_address).toBe('127.0.0.1');
    });

    test('has the last line of a repeated header', async () => {
      const lines = 'Authorization: Bearer good\r\nX-A: b\r\nAuthorization: Bearer bad\r\n';
      const socket = await upgradeBy(lines);
      const call = await auth.next('invokefunction');
      const { headers } = Object(call.data) as Input;
      grant(call, null);
      await once(socket, 'close');
      expect(headers.authorization).toBe('Bearer bad');
    });

    test.each([
      'a\tb: c',
      'Authorization\u00a0: x',
      ' Authorization: x',
      'Authorization : x',
      'Auth\u0000orization: x',
    ])('has no authorization header for the similar name %j', async (line) => {
      const socket = await upgradeBy(`${line}\r\n`);
      const refused = once(socket, 'close').then(() => undefined);
      const call = await Promise.race([auth.next('invokefunction').catch(() => undefined), refused]);
      if (call === undefined) return;
      grant(call, null);
      await refused;
      expect((Object(call.data) as Input).headers.authorization).toBeUndefined();
    });
  });

  describe('has admitted a connection that', () => {
    test('is refused after it was revoked and the answer has changed', async () => {
      await using page = await enter();
      auth.send({
        type: 'invokefunction',
        function_id: 'engine::workers::revoke',
        data: { worker_id: page.workerId },
      });
      expect(await page.closed).toMatchObject({ code: 4402 });
      const { call, status } = await handshake('/?token=the-same');
      grant(call, null);
      expect(await status()).toBe(401);
    });

    test('does not get the grant of another connection by a reattach', async () => {
      await auth.serve('secret::x', () => 1);
      await using rich = await enter({ allowed_functions: ['secret::x'] });
      await using poor = await enter();
      expect(await rich.call('secret::x')).toMatchObject({ result: 1 });
      const { workerId: previous_worker_id, reattachToken: reattach_token } = rich;
      poor.send({ type: 'reattach', previous_worker_id, reattach_token });
      await poor.settled();
      expect(await poor.call('secret::x')).toMatchObject({ error: { code: 'FORBIDDEN' } });
    });

    test('cannot call the auth function, directly or by a trigger', async () => {
      await using page = await enter({ allowed_trigger_types: ['engine::functions-available'] });
      expect(await page.call('auth', { headers: {} })).toMatchObject({ error: { code: 'FORBIDDEN' } });
      const trigger_type = 'engine::functions-available';
      page.send({ type: 'registertrigger', id: 't', trigger_type, function_id: 'auth', config: {} });
      expect(await page.next('triggerregistrationresult')).toMatchObject({ error: { code: 'FORBIDDEN' } });
    });

    test('cannot replace the auth function, whatever its grant', async () => {
      await using page = await enter({ allowed_functions: ['auth'], allow_function_registration: true });
      page.send({ type: 'registerfunction', id: 'auth' });
      await page.settled();
      const { call, status } = await handshake();
      grant(call, null);
      expect(await status()).toBe(401);
    });
  });

  async function enter(granted: object = { context: {} }): Promise<RawWorker> {
    const page = connectPage(engine);
    grant(await auth.next('invokefunction'), granted);
    return await page;
  }

  /** A handshake with these raw header lines. */
  async function upgradeBy(lines: string): Promise<Socket> {
    const socket = connect(port(), '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'connect');
    const head = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n';
    const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    socket.write(`${head}${key}${lines}\r\n`, 'latin1');
    return socket;
  }
});

interface Input {
  readonly headers: Readonly<Record<string, string>>;
  readonly query_params: Readonly<Record<string, readonly string[]>>;
  readonly ip_address: string;
}
