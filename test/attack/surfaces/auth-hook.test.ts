// Ways past the auth function of a port: only an answer that is exactly an answer, of a trusted worker, in time, and about
// this very newcomer, opens a socket.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Frame, RawWorker } from '../../support/clients/raw-worker.ts';
import { tryUpgrade } from '../../support/clients/upgrade.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const YAML = `drain_timeout_ms: 100
limits: {browser: {ask_timeout_ms: 250}}
workers:
  - {name: svc-worker-manager, config: {port: 0}}
  - {name: svc-worker-manager, config: {port: 0, rbac: {auth_function_id: auth, expose_functions: ['match("api::*")']}}}
`;

/** What follows the function's id in the answer, as text: some of it no JSON library would write. */
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

describe.each(['uws', 'ws'])('on %s', (transport) => {
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

  const port = (): number => Number(new URL(String(engine.urls[1])).port);

  /** A newcomer, what the auth function is asked about it, and what it gets in the end. */
  async function knock(path = '/', headers: Record<string, string> = {}) {
    const answer = tryUpgrade(port(), { path, headers });
    asked.push(answer);
    const call = await auth.next('invokefunction');
    return { call, input: Object(call.data) as Input, status: async () => (await answer).status };
  }

  const grant = (call: Frame, result: unknown = { context: {} }): void => auth.answer(call, { result });

  describe('an answer that is none opens no socket', () => {
    test.each(MALFORMED)('%s', async (members) => {
      const { call, status } = await knock();
      auth.sendText(
        `{"type":"invocationresult","invocation_id":${JSON.stringify(call.invocation_id)},"function_id":"auth",${members}}`,
      );
      expect(await status()).toBe(401);
      const after = await knock();
      grant(after.call);
      expect(await after.status()).toBe(101);
    });
  });

  describe('no socket opens when the auth function', () => {
    test('is not there', async () => {
      auth.send({ type: 'unregisterfunction', id: 'auth' });
      await auth.settled();
      expect(await tryUpgrade(port())).toMatchObject({ status: 401 });
    });

    test('never answers', async () => {
      const { status } = await knock();
      expect(await status()).toBe(401);
    });

    test('answers too late', async () => {
      const { call, status } = await knock();
      expect(await status()).toBe(401);
      grant(call);
      await auth.settled();
      expect(engine.counters.get('connections.refused', '401')).toBeGreaterThan(0);
    });

    test('dies when it is asked', async () => {
      const { status } = await knock();
      auth.socket.terminate();
      expect(await status()).toBe(401);
    });

    test('says no, and then yes', async () => {
      const { call, status } = await knock();
      auth.answer(call, { result: null });
      grant(call);
      expect(await status()).toBe(401);
    });

    test('is answered by another worker in its place', async () => {
      await using other = await RawWorker.connect(engine.url);
      const { call, status } = await knock();
      other.answer(call, { result: { context: {} } });
      await other.settled();
      auth.answer(call, { result: null });
      expect(await status()).toBe(401);
    });

    test('is answered by a page that is connected already', async () => {
      await using page = await enter();
      const { call, status } = await knock();
      page.answer(call, { result: { context: {} } });
      await page.settled();
      expect(await status()).toBe(401);
    });

    test('is offered by a page while its worker is away', async () => {
      await using page = await enter();
      auth.socket.terminate();
      await auth.closed;
      await using other = await RawWorker.connect(engine.url);
      await waitFor('the engine has noticed', async () => {
        page.send({ type: 'registerfunction', id: 'auth' });
        await page.settled();
        const wasRefused = page.frames.some(
          ({ type }) => type === 'registrationrejected' && page.frames.splice(0) !== undefined,
        );
        // Even after a trusted worker gave the name to pages.
        if (wasRefused) await other.call('engine::reservations::release', { kind: 'function', name: 'auth' });
        return !wasRefused;
      });
      expect(await tryUpgrade(port())).toMatchObject({ status: 401 });
      expect(page.frames.filter(({ type }) => type === 'invokefunction')).toEqual([]);
    });

    test('was asked about another newcomer: two at a time get each their own answer', async () => {
      const [first, second] = [await knock('/?who=first'), await knock('/?who=second')];
      grant(second.call);
      auth.answer(first.call, { result: null });
      expect([await first.status(), await second.status()]).toEqual([401, 101]);
    });

    test('knows the newcomer of another path of the port', async () => {
      for (const path of ['/otel', '/?token=x/otel', '/otel?token=x']) {
        const { call, status } = await knock(path);
        auth.answer(call, { result: null });
        expect(await status()).toBe(401);
      }
    });
  });

  describe('what the auth function is asked', () => {
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
    ])('of %s is passed as it is written', async (path, expected) => {
      const { call, input, status } = await knock(path);
      grant(call, null);
      expect(input.query_params).toEqual(expected);
      expect(await status()).toBe(401);
    });

    test('holds prototype keys as data', async () => {
      const { call, input, status } = await knock('/?__proto__=1&constructor=2&hasOwnProperty=3', {
        ...{ constructor: 'c', 'x-admin': 'no' },
      });
      grant(call, null);
      await status();
      expect(Object.keys(input.query_params).sort()).toEqual(['__proto__', 'constructor', 'hasOwnProperty']);
      expect(input.headers.constructor).toBe('c');
      expect(Object(input).admin).toBeUndefined();
    });

    test('takes the address from the connection, not from its headers', async () => {
      const lies = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'];
      const { call, input, status } = await knock('/', Object.fromEntries(lies.map((name) => [name, '203.0.113.9'])));
      grant(call, null);
      await status();
      expect(input.ip_address).toBe('127.0.0.1');
    });

    test('shows a header that came twice once, as its last line says', async () => {
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
    ])('is never a header under a name that only looks like it: %j', async (line) => {
      const socket = await upgradeBy(`${line}\r\n`);
      const refused = once(socket, 'close').then(() => undefined);
      const call = await Promise.race([auth.next('invokefunction').catch(() => undefined), refused]);
      if (call === undefined) return;
      grant(call, null);
      await refused;
      expect((Object(call.data) as Input).headers.authorization).toBeUndefined();
    });
  });

  describe('a connection that was let in', () => {
    test('is not let in again once it was revoked and the answer is another', async () => {
      await using page = await enter();
      auth.send({
        type: 'invokefunction',
        function_id: 'engine::workers::revoke',
        data: { worker_id: page.workerId },
      });
      expect(await page.closed).toMatchObject({ code: 4402 });
      const { call, status } = await knock('/?token=the-same');
      grant(call, null);
      expect(await status()).toBe(401);
    });

    test('has the grant of its own answer: a reattach brings no other', async () => {
      await auth.serve('secret::x', () => 1);
      await using rich = await enter({ allowed_functions: ['secret::x'] });
      await using poor = await enter();
      expect(await rich.call('secret::x')).toMatchObject({ result: 1 });
      const { workerId: previous_worker_id, reattachToken: reattach_token } = rich;
      poor.send({ type: 'reattach', previous_worker_id, reattach_token });
      await poor.settled();
      expect(await poor.call('secret::x')).toMatchObject({ error: { code: 'FORBIDDEN' } });
    });

    test('may not ask the auth function itself, nor have it asked by a trigger', async () => {
      await using page = await enter({ allowed_trigger_types: ['engine::functions-available'] });
      expect(await page.call('auth', { headers: {} })).toMatchObject({ error: { code: 'FORBIDDEN' } });
      const trigger_type = 'engine::functions-available';
      page.send({ type: 'registertrigger', id: 't', trigger_type, function_id: 'auth', config: {} });
      expect(await page.next('triggerregistrationresult')).toMatchObject({ error: { code: 'FORBIDDEN' } });
    });

    test('cannot take the id of the auth function, whatever it was granted', async () => {
      await using page = await enter({ allowed_functions: ['auth'], allow_function_registration: true });
      page.send({ type: 'registerfunction', id: 'auth' });
      await page.settled();
      const { call, status } = await knock();
      grant(call, null);
      expect(await status()).toBe(401);
    });
  });

  async function enter(granted: object = { context: {} }): Promise<RawWorker> {
    const page = RawWorker.connect(String(engine.urls[1]));
    grant(await auth.next('invokefunction'), granted);
    return await page;
  }

  /** A request with lines that no library would send. */
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
