// A server that the engine sends requests to answers with something other than a response. The request must end.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { allowListOf } from '../../src/core/limits/outgoing-rules.ts';
import { systemClock } from '../../src/effects/clock.ts';
import { OutgoingClient } from '../../src/effects/outgoing.ts';
import { Webhooks } from '../../src/modules/observability/alerts.ts';
import { within } from '../support/wait-for.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}';
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

const ANSWERS: Readonly<Record<string, string>> = {
  'another protocol': SWITCHED,
  'another protocol, and bytes of it': `${SWITCHED}\x81\x02hi`,
  'nothing at all': '',
  'half a head': 'HTTP/1.1 200 OK\r\nContent-Le',
  'half a body': 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":',
  'half a chunk': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\nabc',
  'a chunk size that is no number': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'a long chunk extension': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;${'a'.repeat(300_000)}\r\n`,
  'a long header': `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
  'a length and an encoding': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a body that is too long': `HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n${'x'.repeat(5_000)}`,
  'no HTTP': '\x00\x01\x02 hello\r\n\r\n',
  'a promise without an answer': 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100),
};

/** Sends the same bytes to each connection, when something came on it, and ends it. */
async function startServer(bytes: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes, 'latin1'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/`, [Symbol.dispose]: () => void server.close() };
}

function createClient(): OutgoingClient & Disposable {
  const client = new OutgoingClient({ listed: allowListOf(['127.0.0.1']), clock: systemClock });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

test.each(Object.entries(ANSWERS))('a request answered with %s fails', async (_name, bytes) => {
  using server = await startServer(bytes);
  using client = createClient();
  const facts = { method: 'POST', headers: {}, body: Buffer.from('{}'), timeoutMs: 60_000, answerBytesMax: 1_000 };
  const sent = client.send({ url: server.url, ...facts });
  const failure = sent.then(
    () => 'answered',
    (error: unknown) => String(Object(error).failure),
  );
  expect(await within(5_000, 'the request ends', failure)).toMatch(/^(unreachable|too_large)$/);
});

test('A webhook whose server switches protocols ends, and later webhooks are sent', async () => {
  using hostile = await startServer(SWITCHED);
  using honest = await startServer(OK);
  using client = createClient();
  const webhooks = new Webhooks(client);
  const message = { alert: 'a', metric: 'm', value: 1, threshold: 0, operator: '>', timestamp: 0 };
  const failing = Promise.allSettled(Array.from({ length: 20 }, () => webhooks.send(hostile.url, message)));
  const sent = webhooks.send(honest.url, message);
  await within(5_000, 'the webhook is sent', sent);
  for (const { status } of await failing) expect(status).toBe('rejected');
});
