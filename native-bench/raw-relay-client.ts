// Both clients of the raw relay, on `ws`: the responder sends every frame back, the caller counts answers in order.
// The frame is as long as the engine's own JSON frame around the same payload.

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { answerReady, answerRuns } from '../bench/support/part.ts';

const [, , role, url] = process.argv;
const socket = new WebSocket(`${url}/${role}`, { perMessageDeflate: false });
await once(socket, 'open');
answerReady(async () => ({}));

if (role === 'responder') {
  socket.on('message', (message: Buffer) => send(message));
} else {
  const waiting: (() => void)[] = [];
  socket.on('message', () => waiting.shift()?.());
  answerRuns((payload, done) => {
    waiting.push(done);
    send(JSON.stringify({ type: 'invokefunction', invocation_id: 'c1', function_id: 'bench::echo', data: payload }));
  });
}

// All frames of a turn in one write, as our own SDK does.
let isCorked = false;

function send(message: Buffer | string): void {
  const stream = (socket as unknown as { _socket: { cork(): void; uncork(): void } })._socket;
  if (!isCorked) {
    isCorked = true;
    stream.cork();
    setImmediate(() => {
      isCorked = false;
      stream.uncork();
    });
  }
  socket.send(message, { binary: false });
}
