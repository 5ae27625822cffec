// The clients of the fan-out: subscribers that count events, and a publisher that keeps a number of events in flight.
// Subscribers are bare TCP sockets, the same for every contender, so that the server is measured and not a client
// library.

import { setTimeout as wait } from 'node:timers/promises';
import { BareTcpClient } from '../../native-bench/bare-tcp-client.ts';
import { Void } from '../../src/sdk/calls/actions.ts';
import { createWorker } from '../../src/sdk/internal.ts';
import { answerReady } from './part.ts';

export type FanoutKind = 'svc' | 'svc-batched' | 'uws' | 'socketio' | 'nats';

const [, , kindText = '', url = '', publishUrl = '', countText = '0', eventBytesText = '200'] = process.argv;
const kind = kindText as FanoutKind;
const count = Number(countText);
/** The last byte of the first letter. It is in every event once, and elsewhere only in a length. */
const MARK = 0xbf;
const data = `ÿ${'x'.repeat(Number(eventBytesText) - 2)}`;
/** Events that have not reached every subscriber. */
const WINDOW = 64;
/** The bytes of a stream message in addition to its data: names, time, number, epoch. */
const SVC_ENVELOPE_BYTES = 190;

let delivered = 0;
let published = 0;
let isRunning = false;

for (let index = 0; index < count; index += 100) {
  await Promise.all(Array.from({ length: Math.min(100, count - index) }, () => subscribe()));
}
const publish = await openPublisher();
answerReady(async () => ({ pid: process.pid }));
process.on('message', (message: { ask?: string; ms?: number }) => {
  if (message.ask === 'publish') measure(message.ms ?? 0).then((report) => process.send?.(report));
});

async function measure(ms: number): Promise<object> {
  isRunning = true;
  const before = delivered;
  const startMs = performance.now();
  fill();
  await wait(ms);
  const deliveries = delivered - before;
  const seconds = (performance.now() - startMs) / 1000;
  isRunning = false;
  return { deliveries, seconds };
}

function fill(): void {
  while (isRunning && published * count < delivered + WINDOW * count) {
    published += 1;
    publish();
  }
}

/** From one mark to the next: nearly all events have the same length, and a look there costs less than a search. */
let stride = 1;

function take(chunk: Buffer): void {
  let at = chunk.indexOf(MARK);
  while (at >= 0) {
    delivered += 1;
    let next = at + stride;
    if (chunk[next] !== MARK) {
      next = chunk.indexOf(MARK, at + 1);
      if (next >= 0) stride = next - at;
    }
    at = next;
  }
  fill();
}

async function subscribe(): Promise<void> {
  if (kind === 'nats') return await subscribeNats();
  const target = new URL(kind.startsWith('svc') ? `${url}/stream/bench/g/` : url);
  const client = await upgrade(target, kind === 'svc-batched' ? 'svc.stream.v1' : undefined);
  if (kind === 'socketio') await greetSocketIo(client);
  client.receive = take;
}

async function upgrade(
  { hostname, port, pathname, search }: URL,
  subprotocol: string | undefined,
): Promise<BareTcpClient> {
  const client = new BareTcpClient(hostname, Number(port));
  const offer = subprotocol === undefined ? '' : `Sec-WebSocket-Protocol: ${subprotocol}\r\n`;
  client.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${offer}\r\n`,
  );
  await client.heard('\r\n\r\n');
  return client;
}

async function greetSocketIo(client: BareTcpClient): Promise<void> {
  client.write(maskedText('40'));
  await client.heard('"sid"');
  // The server pings every 25 s and closes connections that do not answer.
  setInterval(() => client.write(maskedText('3')), 20_000).unref();
}

async function subscribeNats(): Promise<void> {
  const client = await connectNats();
  client.write('SUB g 1\r\nPING\r\n');
  await client.heard('PONG');
  client.receive = (bytes) => {
    answerPing(client, bytes);
    take(bytes);
  };
}

async function connectNats(): Promise<BareTcpClient> {
  const [host = '', port = ''] = url.split(':');
  const client = new BareTcpClient(host, Number(port));
  await client.heard('INFO');
  client.write('CONNECT {"verbose":false}\r\n');
  return client;
}

function answerPing(client: BareTcpClient, bytes: Buffer): void {
  if (bytes.includes('PING')) client.write('PONG\r\n');
}

async function openPublisher(): Promise<() => void> {
  switch (kind) {
    case 'svc':
    case 'svc-batched': {
      const worker = createWorker(publishUrl, { announce: false, handle_signals: false });
      await worker.ready();
      const payload = { stream_name: 'bench', group_id: 'g', type: 'e', data };
      return () => void worker.trigger({ function_id: 'stream::send', payload, action: Void() });
    }
    case 'uws': {
      const client = await upgrade(new URL(publishUrl), undefined);
      // It has the length of a stream message with the same data.
      const frame = maskedText(data.padEnd(data.length + SVC_ENVELOPE_BYTES, 'x'));
      return () => client.write(frame);
    }
    case 'socketio': {
      const client = await upgrade(new URL(publishUrl), undefined);
      await greetSocketIo(client);
      const frame = maskedText(`42${JSON.stringify(['publish', data])}`);
      return () => client.write(frame);
    }
    case 'nats': {
      const client = await connectNats();
      client.receive = (bytes) => answerPing(client, bytes);
      const frame = Buffer.from(`PUB g ${Buffer.byteLength(data)}\r\n${data}\r\n`);
      return () => client.write(frame);
    }
  }
}

/** Client frames are masked. A mask of zeros leaves the text unchanged. */
function maskedText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = bytes.length < 126 ? [0x81, 0x80 | bytes.length] : [0x81, 0xfe, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from(head), Buffer.alloc(4), bytes]);
}
