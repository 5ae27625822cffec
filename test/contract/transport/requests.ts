// Contract of the transport: HTTP requests, before any of them is a WebSocket.

import { expect, test } from 'vitest';
import type { Admission, UpgradeRequest } from '../../../src/transport/socket.ts';
import { within } from '../../support/wait-for.ts';
import { ContractPort, type TransportUnderTest } from './contract-port.ts';
import { FrameClient, upgradeRequest } from './frame-client.ts';

type Snapshot = Omit<UpgradeRequest, 'header' | 'list' | 'headers'> & {
  readonly headers: Readonly<Record<string, string | undefined>>;
};

/** Admits every request and keeps it, with the headers of those names. */
function keepRequests(kept: Snapshot[], names: readonly string[] = []): (request: UpgradeRequest) => Admission {
  return ({ path, query, remoteAddress, subprotocols, header }) => {
    const headers = Object.fromEntries(names.map((name) => [name, header(name)]));
    kept.push({ path, query, remoteAddress, subprotocols, headers });
    return { ok: true, subprotocol: undefined };
  };
}

/** Sends the request and returns the answer, once the port has ended the connection. */
async function ask(port: number, request: string | Buffer): Promise<{ status: number; head: string; body: string }> {
  await using client = await FrameClient.dial(port);
  client.socket.write(request);
  await client.answered();
  const { status, head } = client;
  if (status !== 101) await within(5_000, 'a refused connection ends', client.ended);
  return { status, head, body: client.body };
}

function pageRequest(path = '/', { method = 'GET', host = 'Host: x\r\n' } = {}): string {
  return `${method} ${path} HTTP/1.1\r\n${host}\r\n`;
}

export function testRequests(transport: TransportUnderTest): void {
  testDelivery(transport);
  testAnswers(transport);
  testBrokenRequests(transport);
}

function testDelivery(transport: TransportUnderTest): void {
  test('[wire 1.2] is passed on as it came: path and query unparsed, header names in lower case', async () => {
    const asked: Snapshot[] = [];
    const names = ['host', 'origin', 'authorization', 'x-empty', 'x-twice', 'x-missing', '__proto__'];
    await using port = await ContractPort.open(transport, { admit: keepRequests(asked, names) });
    const lines = ['Origin:  https://a.example ', 'AUTHORIZATION: Bearer x y', 'X-Empty:', 'X-Twice: 1', 'X-Twice: 2'];
    const path = '/a%20b/../c//d?x=1?y=%00&z#f';
    const { connection } = await port.connect(upgradeRequest({ path, host: 'LocalHost:1', lines }));
    expect(asked).toEqual([
      {
        path: '/a%20b/../c//d',
        query: 'x=1?y=%00&z#f',
        remoteAddress: '127.0.0.1',
        subprotocols: [],
        headers: {
          host: 'LocalHost:1',
          origin: 'https://a.example',
          authorization: 'Bearer x y',
          'x-empty': undefined,
          'x-twice': '2',
          'x-missing': undefined,
          ['__proto__']: undefined,
        },
      },
    ]);
    expect(connection.request).toEqual({
      path: '/a%20b/../c//d',
      remoteAddress: '127.0.0.1',
      subprotocol: undefined,
    });
  });

  test('[wire 13] has the last line of a repeated header, with either way of asking for it', async () => {
    const values: (string | undefined)[] = [];
    const offers: (readonly string[])[] = [];
    const admit = ({ header, headers, subprotocols }: UpgradeRequest): Admission => {
      values.push(header('authorization'), headers().get('authorization'));
      offers.push(subprotocols);
      return { ok: true, subprotocol: undefined };
    };
    await using port = await ContractPort.open(transport, { admit });
    const twice = ['Authorization: Bearer one', 'Authorization: Bearer two'];
    // That header is a list: its lines are joined (RFC 6455).
    const offer = ['Sec-WebSocket-Protocol: a, b', 'Sec-WebSocket-Protocol: c'];
    await port.connect(upgradeRequest({ lines: [...twice, ...offer] }));
    expect(values).toEqual(['Bearer two', 'Bearer two']);
    expect(offers).toEqual([['a', 'b', 'c']]);
  });

  test('[X15] has all lines of a header that is a list', async () => {
    const lists: (string | undefined)[] = [];
    const admit = ({ list }: UpgradeRequest): Admission => {
      lists.push(list('x-forwarded-for'), list('x-missing'));
      return { ok: true, subprotocol: undefined };
    };
    await using port = await ContractPort.open(transport, { admit });
    const lines = ['X-Forwarded-For: 127.0.0.1', 'X-Other: 1', 'x-forwarded-for: 198.51.100.7,10.1.2.3'];
    await port.connect(upgradeRequest({ lines }));
    expect(lists).toEqual(['127.0.0.1, 198.51.100.7,10.1.2.3', undefined]);
  });

  test.each([
    { host: '127.0.0.1', from: '127.0.0.1', address: '127.0.0.1' },
    { host: '::1', from: '::1', address: '0000:0000:0000:0000:0000:0000:0000:0001' },
    { host: '::', from: '::1', address: '0000:0000:0000:0000:0000:0000:0000:0001' },
    { host: '::', from: '127.0.0.1', address: '0000:0000:0000:0000:0000:ffff:7f00:0001' },
  ])('[wire 13] from $from to $host has its address in full', async ({ host, from, address }) => {
    const asked: Snapshot[] = [];
    await using port = await ContractPort.open(transport, { host, admit: keepRequests(asked) });
    const { client, connection } = await port.connect(undefined, from);
    expect(asked.map(({ remoteAddress }) => remoteAddress)).toEqual([address]);
    expect(connection.request.remoteAddress).toBe(address);
    client.sendText('over it');
    await connection.hears(1);
  });

  test('[wire 1.3] offers subprotocols in the order of the client, and gets the chosen one', async () => {
    const offers: (readonly string[])[] = [];
    await using port = await ContractPort.open(transport, {
      admit({ subprotocols }) {
        offers.push(subprotocols);
        return { ok: true, subprotocol: subprotocols.find((name) => name.startsWith('svc.')) };
      },
    });
    const offering = (value: string) => upgradeRequest({ lines: [`Sec-WebSocket-Protocol: ${value}`] });
    const chosen = await port.connect(offering('chat, svc.json.v1 ,svc.binary.v1'));
    expect(chosen.client.head).toMatch(/^sec-websocket-protocol: svc\.json\.v1$/im);
    expect(chosen.connection.request.subprotocol).toBe('svc.json.v1');
    // Neither a protocol that was not chosen nor a malformed one prevents a connection.
    for (const value of ['chat', 'a b', ', ,', 'chat, chat']) {
      const { client, connection } = await port.connect(offering(value));
      expect(connection.request.subprotocol).toBeUndefined();
      expect(client.head).not.toMatch(/^sec-websocket-protocol/im);
    }
    expect(offers.slice(0, 3)).toEqual([['chat', 'svc.json.v1', 'svc.binary.v1'], ['chat'], ['a b']]);
  });

  test('[wire 1.3] that offers compression gets none', async () => {
    await using port = await ContractPort.open(transport);
    const lines = ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'];
    const { client, connection } = await port.connect(upgradeRequest({ lines }));
    expect(client.head).not.toMatch(/sec-websocket-extensions/i);
    connection.socket.sendBinary(Buffer.alloc(10_000));
    expect(await client.next()).toMatchObject({ reserved: 0, payload: Buffer.alloc(10_000) });
  });

  test('[wire 1.2] may come byte by byte', async () => {
    await using port = await ContractPort.open(transport);
    await using client = await FrameClient.dial(port.port);
    client.socket.setNoDelay(true);
    for (const byte of upgradeRequest()) {
      await new Promise<void>((resolve) => client.socket.write(byte, () => resolve()));
    }
    await client.answered();
    expect(client.status).toBe(101);
  });

  test('[wire 10.3] is answered before anything that is sent on the new connection', async () => {
    await using port = await ContractPort.open(transport, {
      whenConnected: ({ socket }) => socket.sendBinary(Buffer.from('greeting')),
    });
    const { client } = await port.connect();
    expect((await client.next()).payload.toString()).toBe('greeting');
  });
}

function testAnswers(transport: TransportUnderTest): void {
  test.each([
    [400, 'Bad Request'],
    [401, 'Unauthorized'],
    [403, 'Forbidden'],
    [404, 'Not Found'],
    [429, 'Too Many Requests'],
    [503, 'Service Unavailable'],
  ])('[wire 1.2] that is refused with %i gets the reason as text, and no connection', async (status, name) => {
    const text = `Refused: 'ü' is not served`;
    await using port = await ContractPort.open(transport, { admit: () => ({ ok: false, status, text }) });
    const { head, body } = await ask(port.port, upgradeRequest());
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} ${name}\r\n`));
    expect(head).toMatch(/^content-type: text\/plain$/im);
    expect(Buffer.from(body, 'latin1').toString()).toBe(text);
    expect(port.connections).toEqual([]);
  });

  test('[wire 1.2] without an upgrade is answered with what the port speaks, on its paths, and 404 elsewhere', async () => {
    await using port = await ContractPort.open(transport);
    for (const path of ['/', '/otel', '/?a=b', '/otel?a=b']) {
      const answer = await ask(port.port, pageRequest(path));
      expect(answer, path).toMatchObject({ status: 426, body: 'This port speaks WebSocket' });
    }
    for (const path of ['/unknown', '//', '/otel/', '/OTEL', '/../otel']) {
      expect(await ask(port.port, pageRequest(path)), path).toMatchObject({ status: 404, body: 'Not found' });
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect(await ask(port.port, pageRequest('/', { method })), method).toMatchObject({ status: 426 });
      const upgrade = upgradeRequest().replace('GET', method);
      expect(await ask(port.port, upgrade), method).toMatchObject({ status: 426 });
    }
    expect(port.connections).toEqual([]);
  });

  test('[wire 1.2] for an upgrade without its key is no upgrade', async () => {
    await using port = await ContractPort.open(transport);
    for (const key of ['', 'short', 'x'.repeat(500)]) {
      const request = upgradeRequest().replace('dGhlIHNhbXBsZSBub25jZQ==', key);
      expect(await ask(port.port, request), key).toMatchObject({ status: 426 });
    }
  });

  test('[wire 1.2] for an upgrade to something else, or of another version, is no upgrade', async ({ skip }) => {
    const { readAllUpgradeHeaders } = transport.cannot;
    skip(readAllUpgradeHeaders !== undefined, readAllUpgradeHeaders);
    await using port = await ContractPort.open(transport);
    const whole = upgradeRequest();
    const others = [
      whole.replace('websocket', 'h2c'),
      whole.replace('Upgrade: websocket\r\n', ''),
      whole.replace('Connection: Upgrade\r\n', ''),
      whole.replace('Version: 13', 'Version: 8'),
      whole.replace('Sec-WebSocket-Version: 13\r\n', ''),
    ];
    for (const request of others) {
      expect(await ask(port.port, request), request).toMatchObject({ status: 426 });
    }
    expect(port.connections).toEqual([]);
  });
}

function testBrokenRequests(transport: TransportUnderTest): void {
  test('[guarantees 4] over the limits of a URL, of all headers or of their count is refused', async () => {
    await using port = await ContractPort.open(transport);
    const url = (bytes: number) => `/?${'x'.repeat(bytes - 2)}`;
    const cases: readonly [status: number, path: string, lines: readonly string[]][] = [
      [101, url(8 * 1024), []],
      [414, url(8 * 1024 + 1), []],
      [101, '/', [`X-Long: ${'x'.repeat(15 * 1024)}`]],
      [431, '/', [`X-Long: ${'x'.repeat(16 * 1024)}`]],
      [431, '/', [`X-Long: ${'x'.repeat(100 * 1024)}`]],
      [101, '/', Array(90).fill('X: y')],
      [431, '/', Array(101).fill('X: y')],
      [431, '/', Array(2_000).fill('X: y')],
      [431, url(40 * 1024), []],
    ];
    for (const [status, path, lines] of cases) {
      const place = `${path.length} bytes of URL, ${lines.length} headers, the first of ${lines[0]?.length} bytes`;
      expect(await ask(port.port, upgradeRequest({ path, lines })), place).toMatchObject({ status });
      if (status === 101) continue;
      const page = `GET ${path} HTTP/1.1\r\n${['Host: x', ...lines].join('\r\n')}\r\n\r\n`;
      expect(await ask(port.port, page), place).toMatchObject({ status });
    }
  });

  test('[X3] hides no header beyond the limit of their count', async () => {
    const asked: Snapshot[] = [];
    await using port = await ContractPort.open(transport, { admit: keepRequests(asked, ['origin']) });
    for (let count = 80; count < 120; count += 3) {
      const lines = [...Array(count).fill('X: y'), 'Origin: http://evil.example'];
      await ask(port.port, upgradeRequest({ lines }));
    }
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.map(({ headers }) => headers.origin)).toEqual(asked.map(() => 'http://evil.example'));
  });

  test('[X3] without Host, or with two of them, is 400, with and without an upgrade', async () => {
    await using port = await ContractPort.open(transport);
    const whole = upgradeRequest();
    for (const request of [
      whole.replace('Host: 127.0.0.1\r\n', ''),
      whole.replace('Host: 127.0.0.1', 'Host: evil.example\r\nHost: 127.0.0.1'),
      pageRequest('/', { host: '' }),
      pageRequest('/', { host: 'Host: a\r\nHost: b\r\n' }),
    ]) {
      expect(await ask(port.port, request), request).toMatchObject({ status: 400 });
    }
    expect(port.connections).toEqual([]);
  });

  test('[guarantees 4] of another version of HTTP is refused', async () => {
    await using port = await ContractPort.open(transport);
    const old = upgradeRequest().replace('HTTP/1.1', 'HTTP/1.0');
    expect(await ask(port.port, old)).toMatchObject({ status: 505 });
    expect(port.connections).toEqual([]);
  });

  test('[guarantees 4] that is not HTTP is answered with 400', async ({ skip }) => {
    const { answerGarbage } = transport.cannot;
    skip(answerGarbage !== undefined, answerGarbage);
    await using port = await ContractPort.open(transport);
    for (const garbage of ['hello\r\n\r\n', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc', 'GET\0 / HTTP/1.1\r\n\r\n']) {
      expect(await ask(port.port, Buffer.from(garbage, 'latin1'))).toMatchObject({ status: 400 });
    }
  });
}
