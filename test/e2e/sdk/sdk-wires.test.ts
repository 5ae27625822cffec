// Workers with different forms of the wire, in every pairing, through the real engine: no side can detect the form of
// the other side.

import { afterEach, describe, expect, test, vi } from 'vitest';
import { Enqueue, type HandlerContext, registerWorker, type SvcWorker, Void } from '../../../src/sdk/index.ts';
import { createWorker, nodePlatform, type Platform } from '../../../src/sdk/internal.ts';
import { IiiClient } from '../../support/clients/iii-client.ts';
import { ONE_PORT, startTestEngine } from '../../support/engine/test-engine.ts';

type Form = 'compact' | 'json';

const PAIRS: readonly (readonly [caller: Form, provider: Form])[] = [
  ['compact', 'compact'],
  ['compact', 'json'],
  ['json', 'compact'],
  ['json', 'json'],
];
const MIB = 1024 * 1024;

const workers: SvcWorker[] = [];

function connect(url: string, wire: Form): SvcWorker {
  const options = { handle_signals: false, drain_timeout_ms: 100, log: () => {} } as const;
  const svc = registerWorker(url, { ...options, wire: wire === 'json' ? 'json' : 'binary' });
  workers.push(svc);
  return svc;
}

afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(workers.splice(0).map((svc) => svc.shutdown()));
});

describe.each(PAIRS)('a caller of the %s form and a worker of the %s form', (callerForm, providerForm) => {
  async function setUp() {
    const engine = await startTestEngine();
    const provider = connect(engine.url, providerForm);
    const caller = connect(engine.url, callerForm);
    return { engine, provider, caller };
  }

  test('[I1] pass on every JSON value, and distinguish undefined from null', async () => {
    const { engine, provider, caller } = await setUp();
    await using _ = engine;
    const seen: unknown[] = [];
    const echo = provider.registerFunction('own::echo', (value: unknown) => {
      seen.push(value);
      return value;
    });
    const nothing = provider.registerFunction('own::nothing', () => {});
    const later = provider.registerFunction('own::later', async () => null);
    await Promise.all([echo.ready(), nothing.ready(), later.ready()]);
    const values = [null, 0, false, '', 'é€😀 "\\\u0000\u2028', '\ud800', [], { größe: [1, { '€': null }] }, 1e300];
    for (const value of values) expect(await caller.trigger({ function_id: echo, payload: value })).toEqual(value);
    expect(seen).toEqual(values);
    expect(await caller.trigger({ function_id: echo }), 'an absent payload is null for the handler').toBeNull();
    expect(seen.at(-1)).toBeNull();
    expect(await caller.trigger({ function_id: nothing })).toBeUndefined();
    expect(await caller.trigger({ function_id: later })).toBeNull();
  });

  test('[wire 2.4] pass on objects repeatedly, while their shapes become known', async () => {
    const { engine, provider, caller } = await setUp();
    await using _ = engine;
    const seen: unknown[] = [];
    const echo = provider.registerFunction('own::echo', (value: unknown) => {
      seen.push(value);
      return value;
    });
    await echo.ready();
    const values = [
      {
        id: 1,
        größe: 'é€😀',
        at: new Date(0),
        none: undefined,
        items: [
          { a: 1.5, b: null },
          { b: [], a: -0 },
        ],
      },
      { id: 2, größe: '\ud800', at: new Date(1), items: [{ a: Number.NaN, b: new Map() }] },
      JSON.parse('{"__proto__":{"a":1},"2":[],"1":{}}'),
      { bytes: Buffer.from([0, 255]), wrapped: Object('text'), big: 'x'.repeat(300_000) },
      Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, { at }])),
    ];
    for (let round = 0; round < 5; round++) {
      for (const value of values) {
        const asJson: unknown = JSON.parse(JSON.stringify(value));
        expect(await caller.trigger({ function_id: echo, payload: value })).toEqual(asJson);
        expect(seen.pop()).toEqual(asJson);
        expect(await caller.trigger({ function_id: 'engine::functions::list', payload: value })).toBeDefined();
      }
      await caller.trigger({ function_id: echo, payload: values[0], action: Void() });
      await expect.poll(() => seen.length).toBe(1);
      expect(seen.pop()).toEqual(JSON.parse(JSON.stringify(values[0])));
    }
  });

  test('[L1] pass on 5 MiB, ASCII and not, next to small calls', async () => {
    const { engine, provider, caller } = await setUp();
    await using _ = engine;
    const echo = provider.registerFunction('own::echo', (value: unknown) => value);
    await echo.ready();
    const values = ['x'.repeat(5 * MIB), '€'.repeat((5 * MIB) / 3), 1, Array.from({ length: 100_000 }, (_, at) => at)];
    const answers = values.map((value) => caller.trigger({ function_id: echo, payload: value }));
    for (const [at, answer] of answers.entries()) {
      const text = JSON.stringify(await answer);
      expect(text === JSON.stringify(values[at]), `value ${at} is returned`).toBe(true);
    }
  });

  test('[I1] answer each of thousands of calls with its own result, of any length', async () => {
    const { engine, provider, caller } = await setUp();
    await using _ = engine;
    const echo = provider.registerFunction('own::echo', (at: { n: number; filler: string }) =>
      at.n % 3 === 0 ? Promise.resolve(at) : at,
    );
    await echo.ready();
    const call = async (n: number): Promise<void> => {
      const filler = (n % 7 === 0 ? 'é' : 'x').repeat((n * 37) % 3_000);
      expect(await caller.trigger({ function_id: echo, payload: { n, filler } })).toEqual({ n, filler });
    };
    for (let first = 0; first < 3_000; first += 500) {
      await Promise.all(Array.from({ length: 500 }, (_, at) => call(first + at)));
    }
  });

  test('[SDK-6] report errors of handlers and of the engine in the same way', async () => {
    const { engine, provider, caller } = await setUp();
    await using _ = engine;
    const fail = provider.registerFunction('own::fail', () => {
      throw new RangeError('größe: out of range');
    });
    const bigint = provider.registerFunction('own::bigint', () => 1n);
    await Promise.all([fail.ready(), bigint.ready()]);
    await expect(caller.trigger({ function_id: fail })).rejects.toMatchObject({
      code: 'invocation_failed',
      message: 'größe: out of range',
      function_id: 'own::fail',
      remote: { stack: expect.stringContaining('RangeError') },
    });
    await expect(caller.trigger({ function_id: bigint })).rejects.toMatchObject({ code: 'invocation_failed' });
    await expect(caller.trigger({ function_id: 'own::none' })).rejects.toMatchObject({ code: 'function_not_found' });
    await expect(
      caller.trigger({ function_id: fail, payload: 1, action: Enqueue({ queue: 'none' }) }),
    ).rejects.toMatchObject({ code: 'enqueue_error' });
  });

  test('[SDK-3] pass metadata, deadline, trace, baggage and depth to the handler', async () => {
    const { engine, provider, caller } = await setUp();
    await using _ = engine;
    const seen: HandlerContext[] = [];
    const note = provider.registerFunction('own::note', (_payload, context) => void seen.push(context));
    await note.ready();
    await caller.trigger({ function_id: note, payload: 1, metadata: { größe: 1 }, timeout_ms: 5_000 });
    await caller.trigger({ function_id: note, action: Void() });
    await caller.trigger({ function_id: note, metadata: null });
    await expect.poll(() => seen.length).toBe(3);
    expect(seen[0]).toMatchObject({ function_id: 'own::note', metadata: { größe: 1 }, depth: 1 });
    expect(seen[0]?.trace).toEqual({ trace_id: expect.stringMatching(/^[\da-f]{32}$/), span_id: expect.any(String) });
    expect(seen[0]?.deadline).toBeInstanceOf(Date);
    expect(seen[1]).toMatchObject({ metadata: undefined, depth: 1 });
    expect(seen[2]?.metadata, 'null is what was left out').toBeUndefined();
    expect(new Set(seen.map(({ invocation_id }) => invocation_id)).size).toBe(3);
  });

  test('[I8] count one chain of calls across both forms, and end it at the limit', async () => {
    const { engine, provider, caller } = await setUp();
    await using _ = engine;
    const depths: number[] = [];
    provider.registerFunction('own::ping', async (_payload, { depth }): Promise<unknown> => {
      depths.push(depth);
      await Promise.resolve();
      return provider.trigger({ function_id: 'own::pong' });
    });
    caller.registerFunction('own::pong', async (_payload, { depth }): Promise<unknown> => {
      depths.push(depth);
      return caller.trigger({ function_id: 'own::ping' });
    });
    await Promise.all([provider.ready(), caller.ready()]);
    await caller.trigger({ function_id: 'engine::health::check' });
    await expect(caller.trigger({ function_id: 'own::ping' })).rejects.toMatchObject({ code: 'DEPTH_EXCEEDED' });
    expect(depths).toEqual(Array.from({ length: 64 }, (_, at) => at + 1));
  });
});

describe.each(['compact', 'json'] as const)('a worker of the %s form and a client of iii', (form) => {
  test('[I1] call each other', async () => {
    vi.spyOn(console, 'debug').mockReturnValue(undefined);
    await using engine = await startTestEngine();
    await using peer = new IiiClient(engine.url);
    const svc = connect(engine.url, form);
    peer.sdk.registerFunction('peer::echo', async (value) => ({ got: value }));
    peer.sdk.registerFunction('peer::fail', async () => {
      throw new Error('größe');
    });
    const seen: HandlerContext[] = [];
    const own = svc.registerFunction('own::echo', (value: unknown, context) => {
      seen.push(context);
      return value;
    });
    const relay = svc.registerFunction('own::relay', (value: unknown) =>
      svc.trigger({ function_id: 'peer::echo', payload: value }),
    );
    await Promise.all([peer.ready(), own.ready(), relay.ready()]);
    for (const value of ['é€😀', { a: [null] }, 'x'.repeat(MIB)]) {
      expect(await svc.trigger({ function_id: 'peer::echo', payload: value })).toEqual({ got: value });
      expect(await peer.call('own::echo', value)).toEqual(value);
      expect(await peer.call('own::relay', value)).toEqual({ got: value });
    }
    expect(await svc.trigger({ function_id: 'peer::echo' })).toEqual({ got: null });
    expect(await peer.call('own::echo')).toBeNull();
    await expect(svc.trigger({ function_id: 'peer::fail' })).rejects.toMatchObject({ message: 'größe' });
    expect(seen[0]?.depth).toBe(1);
  });
});

test.each(['compact', 'json'] as const)(
  '[SDK-7] a worker of the %s form is understood beyond loopback, where what it sends is masked',
  async (form) => {
    await using engine = await startTestEngine({
      yaml: `allowed_hosts: [0.0.0.0]\ndrain_timeout_ms: 100\n${ONE_PORT}`,
    });
    // The same port by an address that does not count as loopback: there a proxy may be on the way.
    const svc = connect(`ws://0.0.0.0:${engine.port}`, form);
    const echo = svc.registerFunction('own::echo', (value: unknown) => value);
    await echo.ready();
    const call = async (length: number): Promise<void> => {
      const payload = 'é'.repeat(length);
      expect((await svc.trigger({ function_id: echo, payload })) === payload, `${length} letters are returned`).toBe(
        true,
      );
    };
    for (let round = 0; round < 5; round++) await Promise.all([0, 1, 100, 3_000, 200_000, 50].map(call));
  },
);

describe('the form of the wire', () => {
  test('[SDK-7] is the one of SVC_WIRE, and binary by default', async () => {
    await using engine = await startTestEngine();
    const selected = async (environment: string): Promise<string> => {
      vi.stubEnv('SVC_WIRE', environment);
      let subprotocol = '';
      const platform: Platform = {
        ...nodePlatform,
        openSocket(request, events) {
          const socket = nodePlatform.openSocket(request, {
            ...events,
            onMessage(message) {
              subprotocol = socket.subprotocol;
              events.onMessage(message);
            },
          });
          return socket;
        },
      };
      const svc = createWorker(engine.url, { handle_signals: false, log: () => {} }, platform);
      workers.push(svc);
      await svc.ready();
      return subprotocol;
    };
    expect(await selected('')).toBe('svc.compact.v2');
    expect(await selected('json')).toBe('svc.json.v1');
    expect(await selected('binary')).toBe('svc.compact.v2');
  });
});
