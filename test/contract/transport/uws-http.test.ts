import { expect, test } from 'vitest';
import type { Clock } from '../../../src/effects/clock.ts';
import { loadUws } from '../../../src/transport/uws/uws-library.ts';
import { createUwsTransport } from '../../../src/transport/uws/uws-transport.ts';
import { waitFor } from '../../support/wait-for.ts';
import { testHttpTransport } from './http-contract.ts';
import { type Client, HttpPortUnderTest, type ReportedRequest, statusesIn } from './http-port.ts';
import { testUnreadAnswers } from './unread-answers.ts';
import { UWS_TOLERATES } from './uws-differences.ts';

const MIB = 1024 * 1024;
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n';

const uws = loadUws();

if (uws instanceof Error) {
  test.skip(`[PD-20] uWebSockets.js cannot be loaded here: ${uws.message}`);
} else {
  const create = (clock: Clock) => createUwsTransport(uws, clock);
  testHttpTransport({
    name: 'uWebSockets.js',
    create,
    toleratedRequests: UWS_TOLERATES,
  });
  testUnreadAnswers({ name: 'uWebSockets.js', create });

  test.each(['204', 'HEAD', 'empty'])(
    '[L1] now and then a connection ends with an answer without a body: %s',
    async (kind) => {
      await using port = await HttpPortUnderTest.open(create, {
        fraction: () => 0.0009,
        take: ({ exchange }: ReportedRequest) =>
          exchange.answer(
            kind === '204' ? 204 : 200,
            [],
            kind === '204' ? undefined : Buffer.from(kind === 'HEAD' ? 'a' : ''),
          ),
      });
      const client = await port.dial();
      const request = `${kind === 'HEAD' ? 'HEAD' : 'GET'} / HTTP/1.1\r\nHost: a\r\n\r\n`;
      client.write(request);
      await waitFor('it is answered', () => client.received.endsWith('\r\n\r\n'));
      expect(client.received).toMatch(/connection: close/i);
      await takesNoOtherRequest(port, client);
    },
  );

  test.each([1, MIB, 16 * MIB])(
    'an answer of %i bytes to a chunked request is whole, and is the last of its connection',
    async (bytes) => {
      await using port = await HttpPortUnderTest.open(create, {
        take: ({ exchange, complete }: ReportedRequest) =>
          void complete.then(() => exchange.answer(200, [], Buffer.alloc(bytes, 'x'))),
      });
      const client = await port.dial();
      client.write(CHUNKED);
      await waitFor('the answer is whole', () => bodyOf(client).length === bytes);
      expect(client.received.slice(0, 500)).toMatch(/connection: close/i);
      await takesNoOtherRequest(port, client);
    },
  );

  test('an answer in pieces to a chunked request is framed as any other, and is the last of its connection', async () => {
    await using port = await HttpPortUnderTest.open(create, {
      take: ({ exchange, complete }: ReportedRequest) =>
        void complete.then(() => {
          exchange.begin(200, []);
          exchange.write(Buffer.from('abc'));
          exchange.end();
        }),
    });
    const client = await port.dial();
    client.write(CHUNKED);
    await waitFor('the answer is there', () => client.received.includes('\r\n\r\n3\r\nabc'));
    await takesNoOtherRequest(port, client);
    expect(bodyOf(client)).toBe('3\r\nabc\r\n0\r\n\r\n');
    expect(client.received).toMatch(/connection: close/i);
  });
}

const bodyOf = ({ received }: Client): string => received.slice(received.indexOf('\r\n\r\n') + 4);

/** Another request on the connection reaches no handler. */
async function takesNoOtherRequest(port: HttpPortUnderTest, client: Client): Promise<void> {
  client.write(GET);
  const other = await port.dial();
  other.write(CHUNKED);
  await waitFor('another connection is answered', () => statusesIn(other.received).length === 1);
  expect(port.requests).toHaveLength(2);
  client.destroy();
  other.destroy();
}
