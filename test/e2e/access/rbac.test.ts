// A restricted port over real sockets: which connections it admits, and which functions they reach.

import { createConnection } from 'node:net';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Enqueue, Void } from '../../../src/sdk/index.ts';
import { BinaryClient } from '../../support/clients/binary-client.ts';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { RawWorker } from '../../support/clients/raw-worker.ts';
import { tryUpgrade } from '../../support/clients/upgrade.ts';
import { expectCount } from '../../support/engine/expect-count.ts';
import { startTestEngine, type TestEngine } from '../../support/engine/test-engine.ts';
import { faultLine } from '../../support/load/fault-line.ts';
import { waitFor } from '../../support/wait-for.ts';
import { onBothTransports } from '../both-transports.ts';
import { sdkWorkers } from '../sdk-workers.ts';

const TYPES = ['http', 'cron', 'state', 'event', 'stream', 'engine::functions-available', 'mine'];

const VARIANTS = [
  'secret::x',
  'SECRET::X',
  'Secret::x',
  ' secret::x',
  'secret::x ',
  'secret::\u0000x',
  'ѕecret::x',
  'secret\u200b::x',
  'secret：：x',
  'xsecret::x',
  'secret',
  'api',
  'API::echo',
  'engine::functions::list',
  'engine::register_trigger',
  'auth',
];

beforeEach(() => {
  vi.spyOn(console, 'debug').mockReturnValue(undefined);
});

const connect = sdkWorkers();

onBothTransports('a restricted port', (transport) => {
  test('[X6] The auth function answers before the socket opens', async () => {
    await using engine = await startGuarded();
    await using backend = await RawWorker.connect(engine.url);
    await backend.serve('auth', (input) => (tokenOf(input) === 'good' ? { context: {} } : null));
    expect(await tryUpgrade(portOf(engine), { path: '/?token=good' })).toMatchObject({ status: 101 });
    const refusal = await tryUpgrade(portOf(engine), { path: '/?token=bad' });
    expect(refusal).toMatchObject({ status: 401 });
    expect(refusal.text).not.toContain('bad');
    expect(engine.log.join('\n')).not.toMatch(/token=|good/);
  });

  test.each([null, true, false, 0, 1, '', 'yes', [], [{}], {}, { context: null }, { allowed_functions: 'api::x' }])(
    '[X6] [fault 38] An auth function that answers %j opens no socket',
    async (answer) => {
      const line = faultLine('38', `auth answers ${JSON.stringify(answer)} on ${transport}`, 'sockets=0');
      await using engine = await startGuarded();
      await using backend = await RawWorker.connect(engine.url);
      await backend.serve('auth', () => answer);
      for (const path of ['/', '/otel']) {
        expect(await tryUpgrade(portOf(engine), { path })).toMatchObject({ status: 401 });
      }
      await expectCount(engine, 2, 'connections.refused', '401');
      line.figure = 'sockets=0';
    },
  );

  test('[X6] [fault 38] No socket opens when the auth function is missing, throws, is lost or does not answer', async () => {
    const line = faultLine('38', `auth absent, failing or silent on ${transport}`, 'sockets=0');
    await using engine = await startGuarded('limits: {browser: {ask_timeout_ms: 200}}\n');
    const ask = (): Promise<{ status: number }> => tryUpgrade(portOf(engine));
    expect(await ask()).toMatchObject({ status: 401 });
    await using thrower = await RawWorker.connect(engine.url);
    await thrower.serve('auth', () => {
      throw new Error('no');
    });
    expect(await ask()).toMatchObject({ status: 401 });
    thrower.socket.terminate();
    await thrower.closed;
    const dying = await RawWorker.connect(engine.url);
    await dying.register('auth');
    const asked = ask();
    await dying.next('invokefunction');
    dying.socket.terminate();
    expect(await asked).toMatchObject({ status: 401 });
    await using silent = await RawWorker.connect(engine.url);
    await silent.register('auth');
    expect(await ask()).toMatchObject({ status: 401 });
    expect(silent.frames.length).toBe(1);
    line.figure = 'sockets=0';
  });

  test('[guarantees 4] The number of waiting handshakes is limited, and an aborted one no longer counts', async () => {
    await using engine = await startGuarded('limits: {browser: {auth_calls: 2, connections: 2}}\n');
    await using backend = await RawWorker.connect(engine.url);
    await backend.register('auth');
    const waiting = [halfDone(portOf(engine)), halfDone(portOf(engine))];
    const calls = [await backend.next('invokefunction'), await backend.next('invokefunction')];
    expect(await tryUpgrade(portOf(engine))).toMatchObject({ status: 503 });
    for (const socket of waiting) socket.destroy();
    for (const call of calls) backend.answer(call, { result: { context: {} } });
    // A request that is refused leaves it waiting.
    let next = backend.next('invokefunction');
    const page = await waitFor('a place is free again', async () => {
      const asked = tryUpgrade(portOf(engine));
      const call = await Promise.race([next, asked.then(() => undefined)]);
      if (call !== undefined) {
        backend.answer(call, { result: { context: {} } });
        next = backend.next('invokefunction');
      }
      return (await asked).status === 101;
    });
    next.catch(() => {});
    expect(page).toBe(true);
  });

  test('[PD-43] A browser sends its token as a subprotocol; the engine selects its own and never the token', async () => {
    await using engine = await startGuarded();
    await using backend = await RawWorker.connect(engine.url);
    const seen: unknown[] = [];
    await backend.serve('auth', (input) => {
      seen.push(Reflect.get(Object(input), 'headers')['sec-websocket-protocol']);
      return { context: {} };
    });
    const offer = (names: string) =>
      tryUpgrade(portOf(engine), { headers: { 'sec-websocket-protocol': names } }).then(
        ({ headers }) => headers['sec-websocket-protocol'],
      );
    expect(await offer('svc.msgpack.v2, Authorization, t0ken')).toBe('svc.msgpack.v2');
    expect(await offer('Authorization, t0ken')).toBe('Authorization');
    expect(await offer('t0ken')).toBeUndefined();
    expect(seen).toEqual(['svc.msgpack.v2, Authorization, t0ken', 'Authorization, t0ken', 't0ken']);
    expect(engine.log.join('\n')).not.toContain('t0ken');
  });

  test('[guarantees 4] A message over 1 MiB closes with 1009', async () => {
    await using engine = await startGuarded();
    await using backend = await RawWorker.connect(engine.url);
    await backend.serve('auth', () => ({ context: {} }));
    await using page = await RawWorker.connect(urlOf(engine));
    page.startCall('api::echo', 'x'.repeat(1024 * 1024));
    expect(await page.closed).toMatchObject({ code: 1009 });
  });

  test('[X3] A page of another host is refused, and one of the same host is admitted', async () => {
    await using engine = await startTestEngine({ yaml: yamlOf('rbac: {expose_functions: []}') });
    const from = (origin: string) => tryUpgrade(portOf(engine), { headers: { origin } });
    expect(await from('http://evil.example')).toMatchObject({ status: 403 });
    expect(await from('http://127.0.0.1:5173')).toMatchObject({ status: 101 });
  });
});

describe.each(['binary', 'json'] as const)('a restricted connection of the %s form', (wire) => {
  test('[X5] [X7] [fault 37] reaches no hidden function in any spelling, and gets the same error for all of them', async () => {
    const line = faultLine('37', `RBAC reach-around over ${wire}`, 'reached=0');
    await using engine = await startGuarded();
    await using backend = await RawWorker.connect(engine.url);
    const reached: string[] = [];
    await backend.serve('auth', () => ({ context: {}, allowed_trigger_types: ['t', 'engine::functions-available'] }));
    await backend.serve('api::echo', (data) => data);
    for (const id of VARIANTS.filter((variant) => !variant.startsWith('engine::') && variant !== 'auth')) {
      await backend.serve(id, () => void reached.push(id));
    }
    const svc = connect(urlOf(engine), { wire });
    expect(await svc.trigger({ function_id: 'api::echo', payload: 1 })).toBe(1);
    for (const function_id of VARIANTS) {
      const failures = await Promise.all([
        codeAndText(svc.trigger({ function_id, payload: 1 }), function_id),
        codeAndText(svc.trigger({ function_id, payload: 1, action: Enqueue({ queue: 'default' }) }), function_id),
        svc.trigger({ function_id, payload: 1, action: Void() }).then(() => undefined),
      ]);
      // An id with a control character cannot be named in the binary form at all.
      const isNamed = wire === 'json' || !function_id.includes('\u0000');
      const expected = isNamed ? 'FORBIDDEN function ID not allowed (add to rbac.expose_functions)' : /BAD_REQUEST/;
      for (const failure of failures.slice(0, 2)) expect(failure).toMatch(expected);
    }
    expect(await svc.trigger({ function_id: 'api::echo', payload: 2 })).toBe(2);
    await backend.settled();
    line.figure = `reached=${reached.length},spellings=${VARIANTS.length}`;
    expect(reached).toEqual([]);
  });
});

describe('too many messages on a restricted port', () => {
  test('[guarantees 4] are refused also when one binary frame holds many of them', async () => {
    await using engine = await startGuarded('limits: {browser: {messages_per_second: 1, messages_burst: 20}}\n');
    await using backend = await RawWorker.connect(engine.url);
    await backend.serve('auth', () => ({ context: {} }));
    await backend.serve('api::echo', (data) => data);
    await using client = await BinaryClient.connect(urlOf(engine));
    // Each call sends the name of its function again, so it is two messages.
    const answers = await Promise.all(Array.from({ length: 30 }, () => client.call('api::echo', 1)));
    const refused = answers.filter(({ isError }) => isError);
    expect(refused.length).toBeGreaterThanOrEqual(20);
    for (const { value } of refused) expect(value).toMatchObject({ code: 'RATE_LIMITED' });
  });
});

describe('a trigger of a restricted connection', () => {
  test('[X7] [X9] [fault 37] has no hidden function as target or condition, in any spelling, for any type', async () => {
    await using engine = await startGuarded();
    await using backend = await RawWorker.connect(engine.url);
    await backend.serve('auth', () => ({ context: {}, allowed_trigger_types: TYPES }));
    await backend.register('secret::x');
    await using page = await RawWorker.connect(urlOf(engine));
    for (const [number, hidden] of VARIANTS.entries()) {
      const type = TYPES[number % TYPES.length];
      const bindings = [
        { function_id: hidden, config: {} },
        { function_id: 'api::echo', config: { condition_function_id: hidden } },
      ];
      for (const [kind, fields] of bindings.entries()) {
        page.send({ type: 'registertrigger', id: `${number}-${kind}`, trigger_type: type, ...fields });
        const result = await page.next('triggerregistrationresult');
        const message = `function '${hidden}' not allowed in namespace 'default'`;
        expect(result).toMatchObject({ id: `${number}-${kind}`, error: { code: 'FORBIDDEN', message } });
      }
    }
    page.send({ type: 'registertrigger', id: 'q', trigger_type: 'queue', function_id: 'api::echo', config: {} });
    expect(await page.next('triggerregistrationresult')).toMatchObject({ id: 'q', error: { code: 'FORBIDDEN' } });
    const listed = await backend.call('engine::registered-triggers::list');
    expect(listed.result).toEqual({ registered_triggers: [] });
  });
});

describe('a worker on a trusted port and one on a restricted port', () => {
  test('[X9] [X10] call each other with the published iii client, within the grant of the restricted one', async () => {
    await using engine = await startGuarded();
    await using backend = new IiiClient(engine.url);
    backend.sdk.registerFunction('auth', async (input: unknown) =>
      tokenOf(input) === 'good' ? { context: { user: 1 }, function_registration_prefix: 'tab1' } : null,
    );
    backend.sdk.registerFunction('api::add', async ({ a, b }: { a: number; b: number }) => a + b);
    backend.sdk.registerFunction('secret::x', async () => 'secret');
    await backend.ready();
    await using page = new IiiClient(`${urlOf(engine)}/?token=good`);
    page.sdk.registerFunction('ui::show', async (text: string) => `shown ${text}`);
    expect(await page.call('api::add', { a: 1, b: 2 })).toBe(3);
    await expect(page.call('secret::x')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(page.call('engine::functions::list')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await waitFor('the page is registered', async () => {
      const { functions } = await backend.sdk.trigger({ function_id: 'engine::functions::list', payload: {} });
      return functions.some((row: { function_id: string }) => row.function_id === 'tab1::ui::show');
    });
    expect(await backend.call('tab1::ui::show', 'it')).toBe('shown it');
  });

  test('[X8] The SDK announces itself and makes channels on a port that exposes nothing', async () => {
    await using engine = await startTestEngine({ yaml: yamlOf('rbac: {}') });
    await using backend = await RawWorker.connect(engine.url);
    await backend.register('f');
    const svc = connect(urlOf(engine));
    const { writer, reader } = await svc.createChannel();
    await writer.write(Buffer.from('through'));
    await writer.close();
    expect(Buffer.from(await reader.readAll()).toString()).toBe('through');
    expect(await codeAndText(svc.trigger({ function_id: 'f', payload: 1 }), 'f')).toContain('FORBIDDEN');
  });
});

describe('the start of a restricted port', () => {
  test('[X5] without an auth function logs a warning, and is an error in strict mode', async () => {
    const yaml = yamlOf('rbac: {expose_functions: [\'match("api::*")\']}');
    await using engine = await startTestEngine({ yaml });
    expect(engine.warnings.join('\n')).toContain('workers[1].config.rbac: No auth_function_id');
    await using guarded = await startGuarded();
    expect(guarded.warnings.join('\n')).not.toContain('auth_function_id');
    await expect(startTestEngine({ yaml: `strict: true\n${yaml}` })).rejects.toThrow('No auth_function_id');
  });

  test('[X2] on every address needs no bridge token', async () => {
    await using engine = await startTestEngine({
      yaml: yamlOf('host: 0.0.0.0\n      rbac: {auth_function_id: auth}'),
    });
    expect(await tryUpgrade(portOf(engine))).toMatchObject({ status: 401 });
  });
});

/** The bridge, and a restricted port with an auth function that exposes `api::*`. */
function startGuarded(settings = ''): Promise<TestEngine> {
  return startTestEngine({
    yaml: settings + yamlOf('rbac: {auth_function_id: auth, expose_functions: [\'match("api::*")\']}'),
  });
}

function yamlOf(config: string): string {
  return [
    'drain_timeout_ms: 100',
    'workers:',
    '  - name: svc-worker-manager',
    '    config: {port: 0}',
    '  - name: svc-worker-manager',
    '    config:',
    '      port: 0',
    `      ${config}`,
    '',
  ].join('\n');
}

function urlOf({ urls: [, url] }: TestEngine): string {
  if (url === undefined) throw new Error('There is no restricted port');
  return url.replace('0.0.0.0', '127.0.0.1');
}

function portOf(engine: TestEngine): number {
  return Number(new URL(urlOf(engine)).port);
}

/** How a call failed, with the id itself taken out. */
async function codeAndText(call: Promise<unknown>, functionId: string): Promise<string> {
  try {
    return `answered with ${JSON.stringify(await call)}`;
  } catch (error) {
    const { code, message } = Object(error) as { code: string; message: string };
    return `${code} ${message.replace(`'${functionId}'`, 'ID')}`;
  }
}

function tokenOf(input: unknown): unknown {
  return Reflect.get(Object(input), 'query_params').token?.[0];
}

/** Sends a complete upgrade request and does not read the answer. */
function halfDone(port: number) {
  const socket = createConnection(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(
    'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  return socket;
}
