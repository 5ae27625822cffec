// Both clients of the engine's binary form without an SDK, as lean as those of the raw batched relay: what the engine
// itself costs, next to the floor, with the same peers.

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { answerReady, answerRuns } from '../bench/support/part.ts';

const CALL_BYTES = 24;
const RESULT_BYTES = 16;
/** How many further functions the responder registers: 5 000 for each connection, as the engine's limit has it. */
const [, , role, extra = '0', url = process.argv[3]] = process.argv;
const socket = new WebSocket(url ?? '', 'svc.msgpack.v2', { perMessageDeflate: false, skipUTF8Validation: true });
await once(socket, 'open');

const SLOTS = 65_536;
let buffer = Buffer.allocUnsafe(1 << 20);
let length = 0;

if (role === 'responder') {
  const text = JSON.stringify({ type: 'registerfunction', id: 'bench::echo' });
  buffer.write(text, begin(8 + text.length, 1) + 8);
  socket.on('message', (message: Buffer) => {
    for (let at = 0; at < message.length; at += 4 + message.readUInt32LE(at)) {
      if (message[at + 4] === 3) answerCall(message, at);
    }
  });
  await registerMore(Number(extra));
  answerReady(async () => ({}));
} else {
  const name = 'bench::echo';
  buffer.write(name, begin(12 + name.length, 2) + 12);
  const waiting: (() => void)[] = [];
  socket.on('message', (message: Buffer) => {
    for (let at = 0; at < message.length; at += 4 + message.readUInt32LE(at)) {
      if (message[at + 4] === 4) waiting[message.readUInt32LE(at + 8)]?.();
    }
  });
  answerReady(async () => ({}));
  let id = 0;
  answerRuns((payload, done) => {
    id = (id + 1) % SLOTS;
    waiting[id] = done;
    const text = JSON.stringify(payload);
    const at = begin(CALL_BYTES + text.length, 3);
    buffer[at + 5] = 32;
    buffer.writeUInt32LE(id, at + 8);
    buffer.write(text, at + CALL_BYTES, 'latin1');
  });
}

async function registerMore(count: number): Promise<void> {
  for (let first = 0; first < count; first += 5000) {
    const other = new WebSocket(url ?? '', 'svc.json.v1', { perMessageDeflate: false });
    await once(other, 'open');
    for (let index = first; index < Math.min(count, first + 5000); index++) {
      other.send(JSON.stringify({ type: 'registerfunction', id: `bench::f${index}` }));
    }
    const asked = { type: 'invokefunction', invocation_id: 'x', function_id: 'engine::health::check' };
    // When it is answered, everything in front of it has been read. The greeting may come in the same packet.
    const answered = new Promise<void>((resolve) => {
      other.on('message', (text: Buffer) => {
        if (text.includes('"invocationresult"')) resolve();
      });
    });
    other.send(JSON.stringify(asked));
    await answered;
  }
}

/** Sends the payload of a call back under its id. The benchmark sends no sections. */
function answerCall(message: Buffer, at: number): void {
  const end = at + 4 + message.readUInt32LE(at);
  const to = begin(RESULT_BYTES + end - at - CALL_BYTES, 4);
  buffer[to + 5] = 32;
  message.copy(buffer, to + 8, at + 8, at + 16);
  message.copy(buffer, to + RESULT_BYTES, at + CALL_BYTES, end);
}

function begin(bytes: number, kind: number): number {
  if (length === 0) setImmediate(flush);
  if (length + bytes > buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  const at = length;
  buffer.fill(0, at, at + CALL_BYTES);
  buffer.writeUInt32LE(bytes - 4, at);
  buffer[at + 4] = kind;
  length += bytes;
  return at;
}

function flush(): void {
  const frame = buffer.subarray(0, length);
  length = 0;
  buffer = Buffer.allocUnsafe(1 << 20);
  socket.send(frame, { binary: true });
}
