import { describe, expect, test } from 'vitest';
import type { Admission, PendingAdmission } from '../../../../src/transport/socket.ts';
import type { TestWorker } from '../../../support/clients/test-worker.ts';
import type { EngineInMemory } from '../../../support/engine/engine-in-memory.ts';
import { type Dialling, type PortOptions, TestPort } from '../../../support/engine/worker-port.ts';

const SECOND = 1000;

describe('the auth function of a restricted port', () => {
  test('[X6] It is called before the upgrade is answered, with path, query, headers and address', async () => {
    const { port, auth } = await openGuarded();
    const verdict = knock(port, {
      query: 'token=a%20b&token=c&__proto__=x',
      headers: { authorization: 'Bearer t', 'x-thing': 'y' },
      from: '203.0.113.9',
    });
    const call = auth.nextCall();
    expect(call).toMatchObject({ function_id: 'auth' });
    expect(call.data).toEqual({
      headers: { host: 'localhost:49134', authorization: 'Bearer t', 'x-thing': 'y' },
      query_params: JSON.parse('{"token": ["a b", "c"], "__proto__": ["x"]}'),
      ip_address: '203.0.113.9',
    });
    expect(port.engine.context.sessions.size).toBe(1);
    auth.result(call, { context: { user: 7 } });
    expect(await verdict).toMatchObject({ ok: true });
  });

  test.each([
    [null],
    [undefined],
    [true],
    [false],
    [0],
    [1],
    ['yes'],
    [''],
    [[]],
    [[{}]],
    [{}],
    [{ context: null }],
    [{ allowed_functions: null, forbidden_functions: null }],
    [{ allowed_functions: 'api::x' }],
    [{ allowed_functions: [1] }],
    [{ forbiden_functions: ['api::x'] }],
    [{ context: 'user' }],
    [{ context: [] }],
    [{ allow_function_registration: 'no' }],
    [{ function_registration_prefix: '' }],
    [{ function_registration_prefix: 'a\u0000' }],
    [{ namespaces: ['default'] }],
    [{ namespaces: { default: [`${'*'.repeat(17)}`] } }],
    [{ allow: true }],
  ])('[X6] [fault 38] The answer %j admits no connection', async (answer) => {
    const { port, auth } = await openGuarded();
    const verdict = knock(port);
    auth.result(auth.nextCall(), answer);
    expect(await verdict).toEqual({ ok: false, status: 401, text: expect.stringContaining('UNAUTHORIZED') });
    expect(port.engine.count('connections.refused', '401')).toBe(1);
  });

  test.each([
    ['throws', (auth: TestWorker) => auth.fail(auth.nextCall(), { code: 'BAD_TOKEN', message: 'no, s3cret' })],
    ['dies while it is asked', (auth: TestWorker) => auth.drop()],
    ['takes longer than 5 s', (_auth: TestWorker, engine: EngineInMemory) => engine.advance(5.1 * SECOND)],
  ])('[X6] [fault 38] A function that %s admits no connection', async (_what, happen) => {
    const { port, auth } = await openGuarded();
    const verdict = knock(port);
    happen(auth, port.engine);
    expect(await verdict).toMatchObject({ status: 401 });
    expect(port.engine.logLines.join('\n')).not.toContain('s3cret');
  });

  test('[X6] [fault 38] A function that is not registered admits no connection', async () => {
    const { port, auth } = await openGuarded();
    auth.unregister('auth');
    expect(await knock(port)).toMatchObject({ status: 401 });
  });

  test('[X6] It is called for telemetry sockets, and not for channels, which have a key', async () => {
    const { port, auth } = await openGuarded();
    const verdict = port.verdict('/otel');
    auth.result(auth.nextCall(), null);
    expect(await verdict).toMatchObject({ status: 401 });
    const { writer } = port.engine.context.channels.create(1);
    const query = `key=${writer.access_key}&dir=write`;
    expect(port.ask(`/ws/channels/${writer.channel_id}`, { query })).toMatchObject({ ok: true });
    expect(auth.received()).toEqual([]);
  });

  test('[X3] A page of another origin is refused before the function is called', async () => {
    const { port, auth } = await openGuarded();
    expect(port.ask('/', { headers: { origin: 'http://evil.example' } })).toMatchObject({ status: 403 });
    expect(auth.received()).toEqual([]);
  });

  test('[PD-43] A token may be a subprotocol, which is never the selected one', async () => {
    const { port, auth } = await openGuarded();
    for (const [subprotocols, selected] of [
      [['svc.msgpack.v2', 'Authorization', 't0ken'], 'svc.msgpack.v2'],
      [['Authorization', 't0ken'], 'Authorization'],
      [['t0ken'], undefined],
    ] as const) {
      const verdict = knock(port, { subprotocols, headers: { 'sec-websocket-protocol': subprotocols.join(', ') } });
      const call = auth.nextCall();
      expect(call.data).toMatchObject({ headers: { 'sec-websocket-protocol': subprotocols.join(', ') } });
      auth.result(call, { context: {} });
      expect(await verdict).toMatchObject({ ok: true, subprotocol: selected });
    }
  });
});

describe('connections that wait for it', () => {
  test('[guarantees 4] One connection over the limit gets 503 at once', async () => {
    const { port, auth } = await openGuarded({ browser: { authCalls: 2 } });
    const waiting = [knock(port), knock(port)];
    expect(port.ask('/')).toMatchObject({ status: 503 });
    const [first, second] = auth.received('invokefunction');
    if (first === undefined || second === undefined) throw new Error('It was not asked twice');
    auth.result(first, { context: {} });
    auth.result(second, null);
    expect(await Promise.all(waiting)).toMatchObject([{ ok: true }, { status: 401 }]);
    expect('verdict' in port.knock('/')).toBe(true);
  });

  test.each(['before', 'after'])('[guarantees 4] A client that leaves %s the answer frees its place', async (when) => {
    const { port, auth } = await openGuarded({ browser: { connectionsMax: 1 } });
    const pending = port.knock('/');
    if (!('verdict' in pending)) throw new Error('The port answered at once');
    if (when === 'before') pending.gone();
    auth.result(auth.nextCall(), { context: {} });
    await pending.verdict;
    if (when === 'after') pending.gone();
    const next = port.knock('/');
    expect('verdict' in next).toBe(true);
    expect(port.knock('/')).toMatchObject({ status: 503 });
  });

  test('[guarantees 4] A refused connection does not count', async () => {
    const { port, auth } = await openGuarded({ browser: { connectionsMax: 1 } });
    for (let attempt = 0; attempt < 3; attempt++) {
      const verdict = knock(port);
      auth.result(auth.nextCall(), {});
      expect(await verdict).toMatchObject({ status: 401 });
    }
  });
});

describe('addresses', () => {
  test('[PD-27] One address has limits of open connections and of new ones per second', async () => {
    const port = await TestPort.open({
      config: { rbac: {} },
      browser: { perAddress: { connectionsMax: 3, connectionsPerSecondMax: 2 } },
    });
    const statusFrom = (from: string): number => {
      const admission = port.ask('/', { from });
      if (admission.ok) port.enter(admission);
      return admission.ok ? 101 : admission.status;
    };
    expect(['203.0.113.9', '203.0.113.9', '203.0.113.9'].map(statusFrom)).toEqual([101, 101, 429]);
    expect(['203.0.113.8', '127.0.0.1', '127.0.0.1', '127.0.0.1'].map(statusFrom)).toEqual([101, 101, 101, 101]);
    port.engine.advance(SECOND);
    expect(['203.0.113.9', '203.0.113.9'].map(statusFrom)).toEqual([101, 429]);
  });

  test('[X15] The limits use the address that a trusted proxy reports, and that of no other client', async () => {
    const port = await TestPort.open({
      config: { rbac: {} },
      settings: { trustedProxies: ['10.0.0.0/8'] },
      browser: { perAddress: { connectionsMax: 1, connectionsPerSecondMax: 9 } },
    });
    const statusOf = (from: string, named: string): number | undefined => {
      const admission = port.ask('/', { from, headers: { 'x-forwarded-for': named } });
      return admission.ok ? 101 : admission.status;
    };
    expect(statusOf('10.0.0.1', '203.0.113.9')).toBe(101);
    expect(statusOf('10.0.0.1', '203.0.113.9')).toBe(429);
    expect(statusOf('10.0.0.1', '203.0.113.8')).toBe(101);
    expect(statusOf('198.51.100.1', '203.0.113.1')).toBe(101);
    expect(statusOf('198.51.100.1', '203.0.113.2')).toBe(429);
    expect(statusOf('10.0.0.1', '10.0.0.2')).toBe(101);
    expect(statusOf('10.0.0.1', '10.0.0.2')).toBe(101);
  });
});

describe('origins', () => {
  const pageOf = (origin: string, host = '127.0.0.1:49135') => ({ headers: { origin, host } });

  test('[X3] Without a list, pages of the same host may connect, whatever their port', async () => {
    const port = await TestPort.open({ config: { rbac: {} } });
    expect(port.ask('/', pageOf('http://127.0.0.1:5173')).ok).toBe(true);
    expect(port.ask('/', pageOf('https://LOCALHOST', 'localhost:49135')).ok).toBe(true);
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1.evil.example', 'null', 'file://']) {
      expect(port.ask('/', pageOf(origin))).toMatchObject({ status: 403 });
    }
  });

  test('[X3] A foreign Host is refused', async () => {
    const port = await TestPort.open({ config: { rbac: {} } });
    expect(port.ask('/', pageOf('http://evil.example', 'evil.example:49135'))).toMatchObject({ status: 403 });
  });

  test('[X3] With a list, only listed origins may connect', async () => {
    const port = await TestPort.open({ config: { rbac: {}, allowed_origins: ['https://app.example'] } });
    expect(port.ask('/', pageOf('https://app.example')).ok).toBe(true);
    expect(port.ask('/', pageOf('http://127.0.0.1:5173'))).toMatchObject({ status: 403 });
    expect(port.ask('/', pageOf('https://app.example.evil.example'))).toMatchObject({ status: 403 });
    expect(port.ask('/').ok).toBe(true);
  });
});

/** A port with an auth function, and the trusted worker that offers it. */
async function openGuarded(options: PortOptions = {}): Promise<{ port: TestPort; auth: TestWorker }> {
  const port = await TestPort.open({ ...options, config: { rbac: { auth_function_id: 'auth' } } });
  const auth = port.engine.connect();
  auth.register('auth');
  return { port, auth };
}

async function knock(port: TestPort, dialling: Dialling = {}): Promise<Admission> {
  const answer: Admission | PendingAdmission = port.knock('/', dialling);
  return 'verdict' in answer ? await answer.verdict : answer;
}
