// The floor of the binary form: two sockets on bare uWebSockets.js, messages cut out of each frame by their length,
// their id rewritten, appended for the other side, one frame for each side and turn. No table, no deadline, no choice.

import { createRequire } from 'node:module';
import { answerReady } from '../bench/support/part.ts';

const uws = createRequire(import.meta.url)('uWebSockets.js');

interface RawSocket {
  getUserData(): { side: 0 | 1 };
  send(message: Uint8Array, isBinary: boolean): number;
}

const sockets: (RawSocket | undefined)[] = [undefined, undefined];
const buffers = [Buffer.allocUnsafe(4 << 20), Buffer.allocUnsafe(4 << 20)];
const lengths = [0, 0];
let isScheduled = false;
let nextId = 0;

function flush(): void {
  isScheduled = false;
  for (const side of [0, 1]) {
    const length = lengths[side] ?? 0;
    if (length > 0) sockets[side]?.send((buffers[side] as Buffer).subarray(0, length), true);
    lengths[side] = 0;
  }
}

function relay(from: RawSocket, message: ArrayBuffer): void {
  const bytes = Buffer.from(message);
  const side = 1 - from.getUserData().side;
  const buffer = buffers[side] as Buffer;
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    const to = lengths[side] ?? 0;
    bytes.copy(buffer, to, at, end);
    buffer.writeUInt32LE(nextId++ >>> 0, to + 12);
    lengths[side] = to + end - at;
    at = end;
  }
  if (!isScheduled) setImmediate(flush);
  isScheduled = true;
}

interface RawRequest {
  getUrl(): string;
  getHeader(name: string): string;
}

interface RawResponse {
  upgrade(data: object, key: string, protocol: string, extensions: string, context: unknown): void;
}

const port = await new Promise<number>((resolve) => {
  uws
    .App()
    .ws('/*', {
      maxPayloadLength: 16 * 1024 * 1024,
      maxBackpressure: 64 * 1024 * 1024,
      upgrade(response: RawResponse, request: RawRequest, context: unknown) {
        const side = request.getUrl() === '/responder' ? 1 : 0;
        response.upgrade({ side }, request.getHeader('sec-websocket-key'), '', '', context);
      },
      open(socket: RawSocket) {
        sockets[socket.getUserData().side] = socket;
      },
      message: relay,
    })
    .listen('127.0.0.1', 0, (token: unknown) => resolve(uws.us_socket_local_port(token)));
});
answerReady(async () => ({ url: `ws://127.0.0.1:${port}` }));
