// The floor of every call: two sockets on bare uWebSockets.js, each frame passed to the other side as it came,
// sends deferred to the end of the turn and corked. No parsing, no deadline, no table.

import { createRequire } from 'node:module';
import { answerReady } from '../bench/support/part.ts';

const uws = createRequire(import.meta.url)('uWebSockets.js');

interface Side {
  socket: { send(message: Buffer, isBinary: boolean): number; cork(write: () => void): void } | undefined;
  frames: Buffer[];
}

const sides: Record<'caller' | 'responder', Side> = {
  caller: { socket: undefined, frames: [] },
  responder: { socket: undefined, frames: [] },
};
let isScheduled = false;

function flush(): void {
  isScheduled = false;
  for (const side of Object.values(sides)) {
    const { frames } = side;
    side.frames = [];
    if (frames.length > 0) side.socket?.cork(() => frames.forEach((frame) => side.socket?.send(frame, false)));
  }
}

const port = await new Promise<number>((resolve) => {
  uws
    .App()
    .ws('/*', {
      maxPayloadLength: 16 * 1024 * 1024,
      upgrade(response: never, request: never, context: unknown) {
        const req = request as { getUrl(): string; getHeader(name: string): string };
        (response as { upgrade(...args: unknown[]): void }).upgrade(
          { side: req.getUrl() === '/responder' ? 'responder' : 'caller' },
          req.getHeader('sec-websocket-key'),
          '',
          '',
          context,
        );
      },
      open(socket: { getUserData(): { side: 'caller' | 'responder' } }) {
        sides[socket.getUserData().side].socket = socket as never;
      },
      message(socket: { getUserData(): { side: 'caller' | 'responder' } }, message: ArrayBuffer) {
        const other = socket.getUserData().side === 'caller' ? sides.responder : sides.caller;
        other.frames.push(Buffer.from(Buffer.from(message)));
        if (!isScheduled) setImmediate(flush);
        isScheduled = true;
      },
    })
    .listen('127.0.0.1', 0, (token: unknown) => resolve(uws.us_socket_local_port(token)));
});
answerReady(async () => ({ url: `ws://127.0.0.1:${port}` }));
