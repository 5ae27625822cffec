// Fault 40: addresses that the engine must never connect to. The listener counts the connections.

import { describe, expect, test } from 'vitest';
import { allowListOf } from '../../../src/core/limits/outgoing-rules.ts';
import { systemClock } from '../../../src/effects/clock.ts';
import {
  OutgoingClient,
  type OutgoingError,
  type OutgoingRequest,
  type Resolve,
} from '../../../src/effects/outgoing.ts';
import { HttpTarget } from '../../support/clients/http-target.ts';
import { faultLine } from '../../support/load/fault-line.ts';

interface Made {
  readonly allow?: readonly string[];
  readonly resolve?: Resolve;
}

function createClient({ allow = [], resolve }: Made = {}): OutgoingClient & Disposable {
  const client = new OutgoingClient({ listed: allowListOf(allow), clock: systemClock, ...(resolve && { resolve }) });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

function requestTo(url: string, fields: Partial<OutgoingRequest> = {}): OutgoingRequest {
  const body = Buffer.from('{}');
  return { url, method: 'POST', headers: {}, body, timeoutMs: 5_000, answerBytesMax: 1_000, ...fields };
}

/** The kind of the failure and its message, or `answered`. */
async function failureOf(sent: Promise<unknown>): Promise<string> {
  return await sent.then(
    () => 'answered',
    (error: OutgoingError) => `${error.failure}: ${error.message}`,
  );
}

/** Some systems do not resolve `localhost.`. */
const REFUSED = /^(refused: |unreachable: its host localhost\. has no address)/;

describe('[X18] no spelling of an internal address', () => {
  test('[X18] [fault 40] reaches a listener', async () => {
    const line = faultLine('40', 'SSRF spellings', 'connections=0');
    await using target = await HttpTarget.start();
    const { port } = target;
    const hosts = [
      ...['127.0.0.1', '127.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.01', '127.0.0.1.'],
      ...['[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[64:ff9b::127.0.0.1]'],
      ...['0.0.0.0', '[::]', 'localhost', 'localhost.', '１２７.0.0.1', '127%2e0%2e0%2e1', '0'],
    ];
    using client = createClient({ allow: ['elsewhere.example'] });
    for (const host of hosts) {
      for (const scheme of ['http', 'https']) {
        for (const place of [`${host}:${port}`, host]) {
          const failure = await failureOf(client.send(requestTo(`${scheme}://${place}/`)));
          expect([place, failure]).toEqual([place, expect.stringMatching(REFUSED)]);
        }
      }
    }
    line.figure = `connections=${target.connections},spellings=${hosts.length}`;
    expect(target.connections).toBe(0);
  });
});

describe('[X17] a host name', () => {
  test('[X17] [fault 40] that resolves first to a public and then to an internal address is refused', async () => {
    const line = faultLine('40', 'SSRF rebinding', 'connections=0');
    await using target = await HttpTarget.start();
    const asked: string[] = [];
    const answers = [['192.0.3.1'], ['127.0.0.1'], ['127.0.0.1']];
    const resolve: Resolve = async (host) => {
      asked.push(host);
      return answers[asked.length - 1] ?? [];
    };
    using client = createClient({ resolve });
    // No server listens there. The client must try that address and no other one.
    const first = await failureOf(client.send(requestTo('https://rebind.example/', { timeoutMs: 300 })));
    expect(first).toMatch(/^(timeout|unreachable)/);
    expect(asked).toEqual(['rebind.example']);
    expect(await failureOf(client.send(requestTo('https://rebind.example/')))).toContain('refused');
    line.figure = `connections=${target.connections}`;
    expect(target.connections).toBe(0);
  });

  test('[X17] [fault 40] is used in the request to the address that was checked', async () => {
    await using target = await HttpTarget.start();
    using client = createClient({ allow: ['127.0.0.0/8'], resolve: async () => ['127.0.0.1'] });
    await client.send(requestTo(`http://inside.example:${target.port}/path?q=1`));
    expect(target.requests).toMatchObject([{ path: '/path?q=1', headers: { host: `inside.example:${target.port}` } }]);
  });

  test.each([
    [['192.0.3.1', '127.0.0.1']],
    [['127.0.0.1', '192.0.3.1']],
    [['::ffff:127.0.0.1']],
    [['fe80::1%eth0']],
    [['not an address']],
    [[]],
  ])('[X17] that resolves to %j is refused', async (addresses) => {
    await using target = await HttpTarget.start();
    using client = createClient({ resolve: async () => addresses });
    expect(await failureOf(client.send(requestTo('https://mixed.example/')))).toContain('refused');
    expect(target.connections).toBe(0);
  });

  test('[X17] that cannot be resolved is named in the error', async () => {
    using client = createClient({ resolve: () => Promise.reject(new Error('ENOTFOUND 10.0.0.1')) });
    const failure = await failureOf(client.send(requestTo('https://nowhere.example/')));
    expect(failure).toBe('unreachable: its host nowhere.example has no address');
  });
});

describe('[X16] an outgoing request', () => {
  test('[X16] [fault 40] follows no redirect', async () => {
    const line = faultLine('40', 'SSRF redirects', 'connections=0');
    await using inner = await HttpTarget.start();
    await using outer = await HttpTarget.start((response) => {
      response.writeHead(302, { location: `${inner.url}/` }).end();
    });
    using client = createClient({ allow: ['hooks.local'], resolve: async () => ['127.0.0.1'] });
    const answer = await client.send(requestTo(`http://hooks.local:${outer.port}/`));
    line.figure = `connections=${inner.connections}`;
    expect(answer.status).toBe(302);
    expect([outer.requests.length, inner.connections]).toEqual([1, 0]);
  });

  test('[X16] ends at its timeout, also when the answer has begun', async () => {
    await using silent = await HttpTarget.start(() => {});
    await using dripping = await HttpTarget.start((response) => {
      response.write('{');
    });
    using client = createClient({ allow: ['127.0.0.1'] });
    for (const { url } of [silent, dripping]) {
      expect(await failureOf(client.send(requestTo(url, { timeoutMs: 100 })))).toContain('timeout');
    }
  });

  test('[X16] fails when the answer exceeds its limit', async () => {
    await using target = await HttpTarget.start((response) => {
      const flood = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', flood);
      flood();
    });
    using client = createClient({ allow: ['127.0.0.1'] });
    expect(await failureOf(client.send(requestTo(target.url)))).toContain('too_large');
  });

  test('[X16] sends its method, headers and body, and returns status and body', async () => {
    await using target = await HttpTarget.start((response) => response.writeHead(201).end('{"a":1}'));
    using client = createClient({ allow: ['127.0.0.1'] });
    const headers = { 'content-type': 'application/json' };
    const sent = client.send(requestTo(target.url, { method: 'PUT', body: Buffer.from('"ü"'), headers }));
    expect(await sent).toEqual({ status: 201, body: Buffer.from('{"a":1}') });
    expect(target.requests).toMatchObject([
      { method: 'PUT', body: '"ü"', headers: { 'content-length': '4', ...headers } },
    ]);
  });
});
