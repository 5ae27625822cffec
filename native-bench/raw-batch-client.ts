// Both clients of the raw batched relay: the responder sends every message back as it came, the caller counts answers
// in order. A message is as long as the binary form's own around the same payload.

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { answerReady, answerRuns } from '../bench/support/part.ts';

const HEADER_BYTES = 24;
const [, , role, url] = process.argv;
const socket = new WebSocket(`${url}/${role}`, { perMessageDeflate: false, skipUTF8Validation: true });
await once(socket, 'open');
answerReady(async () => ({}));

if (role === 'responder') {
  socket.on('message', (message: Buffer) => socket.send(message, { binary: true }));
} else {
  const waiting: (() => void)[] = [];
  socket.on('message', (message: Buffer) => {
    for (let at = 0; at < message.length; at += 4 + message.readUInt32LE(at)) waiting.shift()?.();
  });
  answerRuns((payload, done) => {
    waiting.push(done);
    send(JSON.stringify(payload));
  });
}

let buffer = Buffer.allocUnsafe(1 << 20);
let length = 0;

function send(payload: string): void {
  const bytes = HEADER_BYTES + payload.length;
  if (length === 0) setImmediate(flush);
  if (length + bytes > buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  buffer.writeUInt32LE(bytes - 4, length);
  buffer.write(payload, length + HEADER_BYTES, 'latin1');
  length += bytes;
}

function flush(): void {
  const frame = buffer.subarray(0, length);
  length = 0;
  // The library masks in place or copies; either way the buffer is ours again only after the write: take a new one.
  buffer = Buffer.allocUnsafe(1 << 20);
  socket.send(frame, { binary: true });
}
