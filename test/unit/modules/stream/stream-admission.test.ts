// Admission to the stream server, on a clock that the test moves.

import { describe, expect, test } from 'vitest';
import {
  type AdmittedClient,
  StreamAdmission,
  type StreamAdmissionOptions,
} from '../../../../src/modules/stream/admission.ts';
import { readTarget } from '../../../../src/modules/stream/target.ts';
import type { Admission, SocketEvents, UpgradeRequest } from '../../../../src/transport/socket.ts';
import { EngineInMemory, TEST_STREAM_LIMITS } from '../../../support/engine/engine-in-memory.ts';
import { FakeSocket } from '../../../support/fakes/fake-socket.ts';

const IGNORED: SocketEvents = { message() {}, heard() {}, closed() {} };

interface Asking {
  readonly path?: string;
  readonly address?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly subprotocols?: readonly string[];
}

class StreamPort {
  readonly engine = new EngineInMemory();
  readonly clients: AdmittedClient[] = [];
  readonly admission: StreamAdmission;

  constructor(parts: Partial<StreamAdmissionOptions> = {}) {
    const { clock, router } = this.engine.moduleContext();
    this.admission = new StreamAdmission({
      ...{ clock, router, limits: TEST_STREAM_LIMITS, trustedProxies: [], authFunction: undefined },
      origins: { boundHost: '0.0.0.0', allowedHosts: [], allowedOrigins: [], servesOwnPages: true },
      shared: undefined,
      connected: (_socket, client) => {
        this.clients.push(client);
        return IGNORED;
      },
      ...parts,
    });
  }

  ask({ path = '/', address = '10.0.0.7', headers = {}, subprotocols = [] }: Asking = {}) {
    const all = new Map(Object.entries({ host: '192.0.2.1:3112', ...headers }));
    const request: UpgradeRequest = {
      ...{ path, query: '', remoteAddress: address, subprotocols },
      header: (name) => all.get(name),
      list: (name) => all.get(name),
      headers: () => all,
    };
    return this.admission.admit(request);
  }

  /** The status of a refusal at once, 101 for a connection that is admitted at once. */
  status(asking: Asking = {}): number {
    return this.enter(this.ask(asking));
  }

  enter(admission: ReturnType<StreamAdmission['admit']>): number {
    if ('verdict' in admission) throw new Error('It takes its time');
    if (!admission.ok) return admission.status;
    const request = { path: '/', remoteAddress: '10.0.0.7', subprotocol: undefined };
    admission.connected?.(new FakeSocket(), request);
    return 101;
  }

  /** The verdict after the answer of the auth function. */
  async verdict(asking: Asking = {}): Promise<Admission> {
    const admission = this.ask(asking);
    if (!('verdict' in admission)) throw new Error('It was decided at once');
    return await admission.verdict;
  }
}

describe('addresses', () => {
  test('[modules 4.3] names in the path are percent-decoded, and the last slash is optional', () => {
    const subject = { stream: 'a b', group: 'c/d', item: undefined };
    const join = { subscriptionId: 'path', ...subject, since: undefined, conflate: false };
    expect(readTarget('/stream/a%20b/c%2Fd', '')).toEqual({ kind: 'join', join });
    expect(readTarget('/stream/a%20b/c%2Fd/', '')).toEqual({ kind: 'join', join });
    expect(readTarget('/stream/a%20b/c%2Fd/%C3%A9/', 'epoch=e&seq=7')).toEqual({
      kind: 'join',
      join: { ...join, item: 'é', since: { epoch: 'e', seq: 7 } },
    });
    expect(readTarget('/stream/a%20b/c%2Fd', 'conflate=true')).toEqual({
      kind: 'join',
      join: { ...join, conflate: true },
    });
    expect(readTarget('/', '')).toEqual({ kind: 'root' });
  });

  const wrong: [string, string, number][] = [
    ['/stream/a', '', 404],
    ['/stream/a/b/c/d', '', 404],
    ['/other', '', 404],
    ['/stream/a/%ff', '', 400],
    ['/stream/a//', '', 400],
    ['/stream/a/%00', '', 400],
    [`/stream/a/${'x'.repeat(257)}`, '', 400],
    ['/stream/a/b', 'seq=1', 400],
    ['/stream/a/b', 'epoch=e&seq=-1', 400],
    ['/stream/a/b', 'epoch=e&seq=1e3', 400],
    ['/stream/a/b', 'conflate', 400],
    ['/stream/a/b', 'conflate=%0Ayes', 400],
  ];
  test.each(wrong)('[modules 4.3] %s?%s is refused with %i', (path, query, status) => {
    expect(readTarget(path, query)).toMatchObject({ kind: 'offence', status });
  });
});

describe('pages of other sites', () => {
  test('[X3] clients without an origin and pages of the same host are admitted, others are not', () => {
    const port = new StreamPort();
    expect(port.status()).toBe(101);
    expect(port.status({ headers: { origin: 'http://192.0.2.1:8080' } })).toBe(101);
    expect(port.status({ headers: { origin: 'http://evil.example' } })).toBe(403);
    // A foreign name that points here: page and host agree, and neither is ours.
    expect(port.status({ headers: { origin: 'http://evil.example', host: 'evil.example' } })).toBe(403);
    expect(port.status({ headers: { origin: 'null' } })).toBe(403);
  });
});

describe('limits', () => {
  test('[PD-27] connections per address and per second are limited, except those of this machine', () => {
    const perAddress = { connectionsMax: 3, connectionsPerSecondMax: 2 };
    const port = new StreamPort({ limits: { ...TEST_STREAM_LIMITS, perAddress } });
    expect([port.status(), port.status(), port.status()]).toEqual([101, 101, 429]);
    port.engine.clock.advance(1_000);
    expect([port.status(), port.status()]).toEqual([101, 429]);
    port.engine.clock.advance(1_000);
    expect(port.status()).toBe(429);
    port.admission.left('10.0.0.7');
    expect(port.status()).toBe(101);
    expect(port.status({ address: '10.0.0.8' })).toBe(101);
    for (const address of ['127.0.0.1', '0000:0000:0000:0000:0000:0000:0000:0001']) {
      for (let n = 0; n < 10; n++) expect(port.status({ address })).toBe(101);
    }
  });

  test('[X15] the reported address of a trusted proxy counts, and that of any other client does not', () => {
    const port = new StreamPort({ trustedProxies: ['10.1.0.0/16'] });
    const headers = { 'x-forwarded-for': '198.51.100.9, 203.0.113.5, 10.1.2.3' };
    port.status({ address: '10.1.0.1', headers });
    port.status({ address: '10.9.0.1', headers });
    expect(port.clients.map(({ address }) => address)).toEqual(['203.0.113.5', '10.9.0.1']);
  });

  test('[guarantees 4] connections of the port are limited, and refused while the engine drains', () => {
    const port = new StreamPort({ limits: { ...TEST_STREAM_LIMITS, connectionsMax: 1 } });
    expect([port.status(), port.status()]).toEqual([101, 503]);
    port.engine.context.isDraining = true;
    port.admission.left('10.0.0.7');
    expect(port.status()).toBe(503);
  });
});

describe('the auth function', () => {
  test('[X6] [fault 38] that takes over 5 s, or whose worker leaves, refuses', async () => {
    const port = new StreamPort({ authFunction: 'auth::check' });
    const worker = port.engine.connect();
    worker.register('auth::check');
    const slow = port.verdict();
    port.engine.clock.advance(4_999);
    worker.received();
    port.engine.clock.advance(100);
    expect(await slow).toMatchObject({ ok: false, status: 401 });
    const dead = port.verdict();
    worker.drop();
    expect(await dead).toMatchObject({ ok: false, status: 401 });
    expect(await port.verdict()).toMatchObject({ ok: false, status: 401 });
  });

  test('[guarantees 4] runs for 256 connections at a time, and one more gets 503', async () => {
    const limits = { ...TEST_STREAM_LIMITS, perAddress: { connectionsMax: 1_000, connectionsPerSecondMax: 1_000 } };
    const port = new StreamPort({ authFunction: 'auth::check', limits });
    const worker = port.engine.connect();
    worker.register('auth::check');
    const waiting = Array.from({ length: 256 }, () => port.verdict());
    expect(port.status()).toBe(503);
    const [call] = worker.received('invokefunction');
    if (call === undefined) throw new Error('The auth function was not called');
    worker.result(call, { context: { n: 1 } });
    const [first] = await Promise.all(waiting.slice(0, 1));
    expect(first).toMatchObject({ ok: true });
    expect(port.ask()).toHaveProperty('verdict');
  });

  test('[guarantees 4] has a configurable limit of calls and a configurable timeout', async () => {
    const limits = { ...TEST_STREAM_LIMITS, authCalls: 1, askMs: 200 };
    const port = new StreamPort({ authFunction: 'auth::check', limits });
    const worker = port.engine.connect();
    worker.register('auth::check');
    const slow = port.verdict();
    expect(port.status()).toBe(503);
    port.engine.clock.advance(300);
    expect(await slow).toMatchObject({ ok: false, status: 401 });
    expect(port.ask()).toHaveProperty('verdict');
  });

  test('[X6] whose client leaves during the call frees its place once', async () => {
    const limits = { ...TEST_STREAM_LIMITS, connectionsMax: 1 };
    const port = new StreamPort({ authFunction: 'auth::check', limits });
    const worker = port.engine.connect();
    worker.register('auth::check');
    const admission = port.ask();
    if (!('verdict' in admission)) throw new Error('It was decided at once');
    expect(port.status()).toBe(503);
    admission.gone();
    worker.result(worker.nextCall(), undefined);
    await admission.verdict;
    expect(port.ask()).toHaveProperty('verdict');
    expect(port.status()).toBe(503);
  });
});
