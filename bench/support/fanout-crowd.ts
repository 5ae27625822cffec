// The clients of the fan-out: subscribers that count events, and a publisher that keeps a number of events in flight.
// Subscribers are bare TCP sockets, the same for every contender, so that the server is measured and not a client
// library.

import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
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

function take(chunk: Buffer): void {
  for (let at = chunk.indexOf(MARK); at >= 0; at = chunk.indexOf(MARK, at + 1)) delivered += 1;
  fill();
}

async function subscribe(): Promise<void> {
  if (kind === 'nats') return await subscribeNats();
  const target = new URL(kind.startsWith('svc') ? `${url}/stream/bench/g/` : url);
  const socket = await upgrade(target, kind === 'svc-batched' ? 'svc.stream.v1' : undefined);
  if (kind === 'socketio') await greetSocketIo(socket);
  socket.on('data', take);
}

async function upgrade({ hostname, port, pathname, search }: URL, subprotocol: string | undefined): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  socket.setNoDelay(true);
  const offer = subprotocol === undefined ? '' : `Sec-WebSocket-Protocol: ${subprotocol}\r\n`;
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n${offer}\r\n`,
  );
  await heard(socket, '\r\n\r\n');
  return socket;
}

async function greetSocketIo(socket: Socket): Promise<void> {
  socket.write(maskedText('40'));
  await heard(socket, '"sid"');
  // The server pings every 25 s and closes connections that do not answer.
  setInterval(() => socket.write(maskedText('3')), 20_000).unref();
}

async function subscribeNats(): Promise<void> {
  const [host = '', port = ''] = url.split(':');
  const socket = connect(Number(port), host);
  await heard(socket, 'INFO');
  socket.write('CONNECT {"verbose":false}\r\nSUB g 1\r\nPING\r\n');
  await heard(socket, 'PONG');
  socket.on('data', (chunk) => {
    if (chunk.includes('PING')) socket.write('PONG\r\n');
    take(chunk);
  });
}

async function heard(socket: Socket, text: string): Promise<void> {
  let seen = '';
  await new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer): void => {
      seen += chunk.toString('latin1');
      if (!seen.includes(text)) return;
      socket.off('data', look);
      resolve();
    };
    socket.on('data', look);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(`closed after ${seen.slice(0, 200)}`)));
  });
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
      const socket = await upgrade(new URL(publishUrl), undefined);
      // It has the length of a stream message with the same data.
      const frame = maskedText(data.padEnd(data.length + SVC_ENVELOPE_BYTES, 'x'));
      return () => void socket.write(frame);
    }
    case 'socketio': {
      const socket = await upgrade(new URL(publishUrl), undefined);
      await greetSocketIo(socket);
      socket.on('data', () => {});
      const frame = maskedText(`42${JSON.stringify(['publish', data])}`);
      return () => void socket.write(frame);
    }
    case 'nats': {
      const [host = '', port = ''] = url.split(':');
      const socket = connect(Number(port), host);
      await heard(socket, 'INFO');
      socket.write('CONNECT {"verbose":false}\r\n');
      socket.on('data', (chunk) => chunk.includes('PING') && socket.write('PONG\r\n'));
      const frame = Buffer.from(`PUB g ${Buffer.byteLength(data)}\r\n${data}\r\n`);
      return () => void socket.write(frame);
    }
  }
}

/** Client frames are masked. A mask of zeros leaves the text unchanged. */
function maskedText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = bytes.length < 126 ? [0x81, 0x80 | bytes.length] : [0x81, 0xfe, bytes.length >> 8, bytes.length & 0xff];
  return Buffer.concat([Buffer.from(head), Buffer.alloc(4), bytes]);
}
