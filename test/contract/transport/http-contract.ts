// The behaviour that the engine relies on in any transport with HTTP.

import { describe, expect, test } from 'vitest';
import { UnreadAnswers } from '../../../src/core/limits/unread-answers.ts';
import type { Clock } from '../../../src/effects/clock.ts';
import type { Transport } from '../../../src/transport/transport.ts';
import { waitFor } from '../../support/wait-for.ts';
import { contractTls } from './dialling.ts';
import { type Client, HttpPortUnderTest, type ReportedRequest, statusesIn } from './http-port.ts';
import { AMBIGUOUS_REQUESTS, BROKEN_REQUESTS, EVIL_PATH } from './smuggled-requests.ts';

export interface HttpTransportUnderTest {
  readonly name: string;
  create(clock: Clock): Transport;
  /** Requests that the library accepts although it should not, with the reason why that does no harm. */
  readonly toleratedRequests: Readonly<Record<string, string>>;
}

const MIB = 1024 * 1024;
const HOST = 'Host: a\r\n';

export function testHttpTransport(transport: HttpTransportUnderTest): void {
  const open = (options = {}) => HttpPortUnderTest.open((clock) => transport.create(clock), options);

  describe(`HTTP on ${transport.name}`, () => {
    test('passes a request on as it came: method, path, query, headers with repetitions, body', async () => {
      await using port = await open();
      const lines = `${HOST}X-A: one\r\nx-a: two\r\nContent-Length: 3\r\n`;
      const answer = await port.send(`POST /a%20b/c?x=1&y=%2F HTTP/1.1\r\n${lines}\r\nabc`);
      const [request] = port.requests;
      expect(request?.exchange).toMatchObject({ method: 'POST', path: '/a%20b/c', query: 'x=1&y=%2F', bodyBytes: 3 });
      expect(request?.exchange.headers).toEqual(['host', 'a', 'x-a', 'one', 'x-a', 'two', 'content-length', '3']);
      expect(statusesIn(answer)).toEqual([200]);
      expect(answer.endsWith('abc')).toBe(true);
    });

    test('passes a body on in chunks of the sender, and its end', async () => {
      await using port = await open();
      const chunks = '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n';
      const answer = await port.send(`POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunks}`);
      expect(port.requests[0]?.exchange.bodyBytes).toBeUndefined();
      expect(answer.endsWith('hello world')).toBe(true);
    });

    test('answers HEAD with the length and without the body', async () => {
      await using port = await open({
        take: ({ exchange }: ReportedRequest) => exchange.answer(200, [], Buffer.from('12345')),
      });
      const answer = await port.send(`HEAD / HTTP/1.1\r\n${HOST}\r\n`);
      expect(answer.toLowerCase()).toContain('content-length: 5\r\n');
      expect(answer.endsWith('\r\n\r\n')).toBe(true);
    });

    test('answers without a body where there must be none', async () => {
      await using port = await open({
        take: ({ exchange }: ReportedRequest) => exchange.answer(204, ['x-a', 'b'], undefined),
      });
      const answer = await port.send(`GET / HTTP/1.1\r\n${HOST}\r\n`);
      expect(statusesIn(answer)).toEqual([204]);
      expect(answer.toLowerCase()).not.toContain('content-length');
      expect(answer.endsWith('\r\n\r\n')).toBe(true);
    });

    test('sends an answer in pieces, and reports how much of it waits', async () => {
      await using port = await open({
        take: ({ exchange }: ReportedRequest) => {
          exchange.begin(202, ['content-type', 'text/plain']);
          exchange.write(Buffer.from('one '));
          exchange.write(Buffer.from('two'));
          exchange.end();
        },
      });
      const answer = await port.send(`GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
      expect(statusesIn(answer)).toEqual([202]);
      expect(answer.replaceAll(/\r\n[0-9a-f]+\r\n/gi, '')).toContain('one two');
    });

    test('[X14] sends headers of an answer as UTF-8, with any characters', async () => {
      const lines = ['x-a', 'é € 😀', 'content-disposition', 'attachment; filename="Überß→.txt"'];
      await using port = await open({
        take: ({ exchange }: ReportedRequest) => {
          if (exchange.path === '/whole') return exchange.answer(200, lines, Buffer.from('é'));
          exchange.begin(exchange.path === '/bodiless' ? 204 : 200, lines);
          exchange.end();
        },
      });
      for (const asked of ['GET /whole', 'HEAD /whole', 'GET /pieces', 'HEAD /pieces', 'GET /bodiless']) {
        const sent = await port.send(`${asked} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
        const answer = Buffer.from(sent, 'latin1').toString();
        for (let at = 0; at < lines.length; at += 2) expect(answer).toContain(`${lines[at]}: ${lines[at + 1]}\r\n`);
      }
    });

    test.each([204, 304])('[X14] writes nothing after a head of %i, which has no body', async (status) => {
      await using port = await open({
        take: ({ exchange }: ReportedRequest) => {
          if (exchange.path === '/next') return exchange.answer(200, [], Buffer.from('next'));
          exchange.begin(status, ['x-a', 'b']);
          exchange.write(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'));
          exchange.end();
        },
      });
      const socket = await port.dial();
      let received = '';
      socket.setEncoding('latin1').on('data', (text: string) => {
        received += text;
      });
      socket.write(`GET /pieces HTTP/1.1\r\n${HOST}\r\n`);
      await waitFor('the head is there', () => received.includes('x-a: b') && received.includes('\r\n\r\n'));
      socket.write(`GET /next HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
      await waitFor('the next answer is there', () => received.endsWith('next'));
      expect(statusesIn(received)).toEqual([status, 200]);
      expect(received).not.toMatch(/forged|transfer-encoding/i);
      socket.destroy();
    });

    test('counts what a slow reader has not taken, and reports when it has left', async () => {
      let gone = 0;
      await using port = await open({
        take: ({ exchange }: ReportedRequest) => {
          exchange.whenGone(() => gone++);
          exchange.begin(200, []);
          for (let count = 0; count < 64; count++) exchange.write(Buffer.alloc(MIB));
        },
      });
      const socket = await port.dial();
      socket.pause();
      socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
      const request = await waitFor('the request is reported', () => port.requests[0]);
      expect(request.exchange.bufferedBytes).toBeGreaterThan(8 * MIB);
      socket.destroy();
      await waitFor('the end is reported', () => gone > 0);
      expect([gone, request.exchange.isOpen, request.exchange.bufferedBytes]).toEqual([1, false, 0]);
      request.exchange.write(Buffer.alloc(1));
      request.exchange.end();
    });

    test('stops reading a body and resumes', async () => {
      await using port = await open({ take: ({ exchange }: ReportedRequest) => exchange.pauseBody() });
      const socket = await port.dial();
      socket.write(`POST / HTTP/1.1\r\n${HOST}Content-Length: ${64 * MIB}\r\n\r\n`);
      let isAllSent = false;
      socket.write(Buffer.alloc(64 * MIB), () => {
        isAllSent = true;
      });
      const { exchange, body, complete } = await waitFor('the request is reported', () => port.requests[0]);
      await waitFor('the sender is held up', () => socket.writableLength > 0);
      expect(isAllSent).toBe(false);
      expect(Buffer.concat(body).length).toBeLessThan(8 * MIB);
      exchange.resumeBody();
      expect((await complete).length).toBe(64 * MIB);
      socket.destroy();
    });

    test('[X15] each request has the address of its own connection while others are connected', async () => {
      await using port = await open({
        take: ({ exchange }: ReportedRequest) => exchange.answer(200, [], Buffer.from(`<${exchange.remoteAddress}>`)),
      });
      const ask = async (client: Client, expected: string): Promise<void> => {
        client.received = '';
        client.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
        await waitFor('the answer', () => client.received.endsWith('>'));
        expect(client.received.split('\r\n\r\n')[1]).toBe(`<${expected}>`);
      };
      const end = async (client: Client): Promise<void> => {
        client.end();
        await waitFor('the end of the connection', () => client.hasEnded);
      };
      const [one, two] = [await port.dial('127.0.0.1'), await port.dial('127.0.0.1')];
      await ask(one, '127.0.0.1');
      const other = await port.dial('127.0.0.2');
      for (const [client, address] of [[one, '127.0.0.1'] as const, [other, '127.0.0.2'] as const]) {
        await ask(client, address);
      }
      await end(one);
      await ask(other, '127.0.0.2');
      await ask(two, '127.0.0.1');
      await end(two);
      await end(other);
      const third = await port.dial('127.0.0.3');
      await ask(third, '127.0.0.3');
      const fourth = await port.dial('127.0.0.1');
      await ask(third, '127.0.0.3');
      await ask(fourth, '127.0.0.1');
    });

    test('a connection serves one request after the other', async () => {
      await using port = await open();
      const answer = await port.send(`GET /1 HTTP/1.1\r\n${HOST}\r\n`);
      expect(statusesIn(answer)).toEqual([200]);
      const socket = await port.dial();
      for (const path of ['/1', '/2', '/3']) {
        socket.write(`POST ${path} HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n${path.slice(1)}!`);
        await waitFor(`the answer to ${path}`, () => socket.received.endsWith(`${path.slice(1)}!`));
      }
      expect(statusesIn(socket.received)).toEqual([200, 200, 200]);
      socket.destroy();
    });
  });

  test(`[I4] [${transport.name}] every request of a client that leaves is reported, also one that waits for another`, async () => {
    const gone: string[] = [];
    const unread = new UnreadAnswers(64 * 1_024 * 1_024);
    await using port = await open({
      unread,
      take({ exchange }: ReportedRequest) {
        exchange.whenGone(() => gone.push(exchange.path));
        if (exchange.path === '/answered') exchange.answer(200, [], Buffer.alloc(1_024));
      },
    });
    const client = await port.dial();
    client.write(['/first', '/answered', '/third'].map((path) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`).join(''));
    await waitFor('the first request is reported', () => port.requests.length > 0);
    await port.send(`GET /answered HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`);
    const reported = port.requests.flatMap(({ exchange: { path } }) => (path === '/answered' ? [] : [path]));
    client.destroy();
    await waitFor('all are gone', () => gone.length === reported.length);
    expect(gone.toSorted()).toEqual(reported);
    await waitFor('no answer waits', () => unread.bytes === 0);
  });

  describe(`limits of HTTP on ${transport.name}`, () => {
    test('[guarantees 4] a URL over 8 KiB is 414, headers over 16 KiB 431, over 100 of them 431', async () => {
      await using port = await open();
      const statusOf = async (request: string) => statusesIn(await port.send(request));
      expect(await statusOf(`GET /${'a'.repeat(9_000)} HTTP/1.1\r\n${HOST}\r\n`)).toEqual([414]);
      expect(await statusOf(`GET / HTTP/1.1\r\n${HOST}X: ${'a'.repeat(20_000)}\r\n\r\n`)).toEqual([431]);
      expect(await statusOf(`GET / HTTP/1.1\r\n${HOST}${'x: y\r\n'.repeat(101)}\r\n`)).toEqual([431]);
      expect(port.requests).toEqual([]);
    });

    test('[guarantees 4] a connection over the limit is answered 503', async () => {
      await using port = await open({ connectionsMax: 2 });
      const first = await port.dial();
      const second = await port.dial();
      for (const socket of [first, second]) {
        socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
        await waitFor('it is served', () => socket.received.includes('200'));
      }
      expect(statusesIn(await port.send(`GET / HTTP/1.1\r\n${HOST}\r\n`))).toEqual([503]);
      first.destroy();
      second.destroy();
    });

    test('[L1] where connections are short each ends with its answer, which says so', async () => {
      let isPressed = false;
      await using port = await open({ closesAfterAnswer: () => isPressed });
      const socket = await port.dial();
      socket.write(`GET /1 HTTP/1.1\r\n${HOST}\r\n`);
      await waitFor('the first answer', () => socket.received.includes('200 OK'));
      isPressed = true;
      socket.write(`GET /2 HTTP/1.1\r\n${HOST}\r\n`);
      await waitFor('the connection ends', () => socket.hasEnded);
      expect(socket.received.toLowerCase().split('connection: close')).toHaveLength(2);
    });

    test('a port that is closing ends the connection with the answer that is due', async () => {
      let exchange: ReportedRequest['exchange'] | undefined;
      await using port = await open({
        take: (request: ReportedRequest) => {
          exchange = request.exchange;
        },
      });
      const socket = await port.dial();
      socket.write(`GET / HTTP/1.1\r\n${HOST}\r\n`);
      await waitFor('the request is reported', () => exchange);
      port.stopAccepting();
      exchange?.answer(200, [], Buffer.from('last'));
      await waitFor('the connection ends', () => socket.hasEnded);
      expect(socket.received.endsWith('last')).toBe(true);
    });
  });

  // TLS only carries the bytes: the same parser reads them.
  if (contractTls() !== undefined) return;
  describe(`requests that can be read in two ways, on ${transport.name}`, () => {
    test.each(Object.entries(AMBIGUOUS_REQUESTS))('[X14] [fault 36] %s: never two requests', async (name, request) => {
      await using port = await open();
      const statuses = statusesIn(await port.send(request));
      const evil = port.requests.filter(({ exchange }) => exchange.path.includes(EVIL_PATH));
      expect(evil).toEqual([]);
      if (transport.toleratedRequests[name] !== undefined) {
        expect(statuses.length).toBeLessThanOrEqual(1);
        return;
      }
      // Some of them turn out to be invalid only at the end of the body.
      expect(port.requests.filter(({ isComplete }) => isComplete())).toEqual([]);
      // Closing without an answer counts as a refusal (PD-28).
      expect(statuses.filter((status) => status !== 400 && status !== 505)).toEqual([]);
    });

    test.each(Object.entries(BROKEN_REQUESTS))('[X14] %s: refused', async (name, request) => {
      await using port = await open();
      const statuses = statusesIn(await port.send(request));
      if (transport.toleratedRequests[name] !== undefined) return;
      expect(port.requests).toEqual([]);
      expect(statuses.filter((status) => status < 400)).toEqual([]);
    });
  });
}
