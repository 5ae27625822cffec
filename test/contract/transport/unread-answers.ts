// Finished answers that wait for their clients.

import { describe, expect, test } from 'vitest';
import { UnreadAnswers } from '../../../src/core/limits/unread-answers.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { HttpTransportUnderTest } from './http-contract.ts';
import { type Client, HttpPortUnderTest, type ReportedRequest, statusesIn } from './http-port.ts';

const MIB = 1024 * 1024;
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** More than the operating system buffers for one connection. */
const LARGE = 'x'.repeat(16 * MIB);

export interface UnreadAnswersUnderTest extends Pick<HttpTransportUnderTest, 'name' | 'create'> {
  /** How many requests of a client that does not read can still be handled. */
  readonly handledMax?: number;
}

export function testUnreadAnswers({ name, create, handledMax = 64 }: UnreadAnswersUnderTest): void {
  describe(`Unread answers on ${name}`, () => {
    test('a client that reads late gets the whole answer', async () => {
      const unread = new UnreadAnswers(64 * MIB);
      await using port = await HttpPortUnderTest.open(create, { unread, take: answerLarge });
      const client = await waitingClient(port, unread);
      expect(unread.bytes).toBeLessThan(LARGE.length + 1_024);
      client.resume();
      await waitFor('the whole answer is read', () => client.received.endsWith(LARGE));
      expect(statusesIn(client.received.slice(0, 100))).toEqual([200]);
      await waitFor('nothing waits', () => unread.bytes === 0);
      client.destroy();
    });

    test('an answer whose client leaves no longer counts', async () => {
      const unread = new UnreadAnswers(64 * MIB);
      await using port = await HttpPortUnderTest.open(create, { unread, take: answerLarge });
      const client = await waitingClient(port, unread);
      client.destroy();
      await waitFor('nothing waits', () => unread.bytes === 0);
    });

    test('over the limit the connection that has waited longest is closed', async () => {
      const unread = new UnreadAnswers(24 * MIB);
      await using port = await HttpPortUnderTest.open(create, { unread, take: answerLarge });
      const clients: Client[] = [];
      while (unread.takeAborted() === 0) {
        expect(clients.length).toBeLessThan(10);
        clients.push(await answeredClient(port, clients.length + 1));
      }
      const [first, second] = clients;
      expect(unread.bytes).toBeLessThanOrEqual(24 * MIB);
      first?.resume();
      await waitFor('the first connection ends', () => first?.hasEnded);
      expect(first?.received.length).toBeLessThan(LARGE.length);
      second?.resume();
      await waitFor('the second answer is whole', () => second?.received.endsWith(LARGE));
      for (const client of clients) client.destroy();
    });

    test('a connection that sends request after request without reading is not answered for ever', async () => {
      const unread = new UnreadAnswers(64 * MIB);
      const body = 'x'.repeat(MIB);
      await using port = await HttpPortUnderTest.open(create, {
        unread,
        take: ({ exchange }: ReportedRequest) => exchange.answer(200, [], Buffer.from(body)),
      });
      const client = await port.dial();
      client.pause();
      for (let sent = 0; unread.bytes === 0; sent++) {
        expect(sent).toBeLessThan(64);
        client.write(GET);
        await waitFor('it is handled', () => port.requests.length > sent);
      }
      const handled = port.requests.length;
      for (let sent = 0; sent < 1_000; sent++) client.write(GET);
      // A second client is answered after the first one's requests were read.
      expect(statusesIn(await port.send(GET))).toEqual([200]);
      expect(port.requests.length - handled).toBeLessThan(handledMax);
      expect(unread.bytes).toBeLessThan(64 * MIB);
      client.destroy();
    });

    test('requests in one piece that the engine answers at once are not all answered to a client that never reads', async () => {
      const unread = new UnreadAnswers(64 * MIB);
      await using port = await HttpPortUnderTest.open(create, {
        unread,
        take: ({ exchange }: ReportedRequest) => exchange.answer(404, [], Buffer.from('no route'.repeat(500))),
      });
      const client = await port.dial();
      client.pause();
      const sent = 50_000;
      for (let batch = 0; batch < 100; batch++) client.write(GET.repeat(sent / 100));
      await waitFor('some are handled', () => port.requests.length > 100);
      for (let other = 0; other < 10; other++) expect(statusesIn(await port.send(GET))).toEqual([404]);
      expect(port.requests.length).toBeLessThan(sent / 2);
      expect(unread.bytes).toBeLessThan(32 * MIB);
      client.destroy();
    });

    const bodiless = ({ exchange }: ReportedRequest): void => exchange.answer(204, [], undefined);
    const streamed = ({ exchange }: ReportedRequest): void => {
      exchange.begin(200, []);
      exchange.write(Buffer.alloc(1_024, 'x'));
      exchange.end();
    };
    const FLOODS: readonly (readonly [what: string, request: string, take?: (request: ReportedRequest) => void])[] = [
      ['answers without a body', GET, bodiless],
      ['answers to HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'],
      ['answers in pieces', GET, streamed],
      ['answers to chunked bodies', CHUNKED],
      ['chunked bodies answered without one', CHUNKED, bodiless],
      ['refusals', `GET /${'x'.repeat(9_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ];
    for (const [what, request, take] of FLOODS) {
      test(`a client that never reads does not get answer after answer: ${what}`, async () => {
        let isFilling = true;
        const seed = { state: 1 };
        await using port = await HttpPortUnderTest.open(create, {
          take(reported) {
            if (isFilling) reported.exchange.answer(204, LONG_HEADER, undefined);
            else if (take === undefined) reported.exchange.answer(200, [], Buffer.from('hello'));
            else take(reported);
          },
          // No answer without a body ends its connection while this one is being filled.
          fraction: () => (isFilling ? 1 : nextFraction(seed) / 10),
        });
        const client = await port.dial();
        client.pause();
        for (let sent = 0; sent < 2_000; sent += 100) await flood(port, client, GET.repeat(100));
        isFilling = false;
        let handled = 0;
        // One by one: the library ends a connection that sends another request before the answer.
        while (handled < 1_000 && (await isHandled(port, client, request))) handled++;
        expect(handled).toBeLessThan(1_000);
        client.destroy();
      });
    }
  });
}

/** Sends the request, and asks as a second client until it is handled. False: its connection is closed. */
async function isHandled(port: HttpPortUnderTest, client: Client, request: string): Promise<boolean> {
  const before = port.refused.length + port.requests.length;
  let others = 0;
  client.write(request);
  while (port.refused.length + port.requests.length === before + others) {
    if (client.hasEnded || others === 100) return false;
    others++;
    await port.send(GET);
  }
  return true;
}

/** A second client is answered after the piece was handled. */
async function flood(port: HttpPortUnderTest, client: Client, piece: string): Promise<void> {
  client.write(piece);
  await port.send(GET);
}

/** More than the operating system buffers, after two thousand answers. */
const LONG_HEADER = ['x-long', 'x'.repeat(10_000)];
const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';

/** Fractions that repeat with the test. */
function nextFraction(seed: { state: number }): number {
  seed.state = (Math.imul(seed.state, 1_664_525) + 1_013_904_223) >>> 0;
  return seed.state / 2 ** 32;
}

function answerLarge({ exchange }: ReportedRequest): void {
  exchange.answer(200, [], Buffer.from(LARGE));
}

/** A client that does not read, and has its answer on the way: the `count`-th request of the port. */
async function answeredClient(port: HttpPortUnderTest, count: number): Promise<Client> {
  const client = await port.dial();
  client.pause();
  client.write(GET);
  await waitFor('it is answered', () => port.requests.length === count && !port.requests[count - 1]?.exchange.isOpen);
  await new Promise((resolve) => setImmediate(resolve));
  return client;
}

async function waitingClient(port: HttpPortUnderTest, unread: UnreadAnswers): Promise<Client> {
  const client = await answeredClient(port, 1);
  await waitFor('the answer waits', () => unread.bytes > 0);
  return client;
}
