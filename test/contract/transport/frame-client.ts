// The other end of a contract test: a WebSocket client written by hand, which sees every frame as it came over the
// wire.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type BareFrame, encodeFrame } from '../../support/clients/bare-socket.ts';
import { waitFor, within } from '../../support/wait-for.ts';

import { connected, dial } from './dialling.ts';

/** A frame of the server, parsed. */
export interface ServerFrame {
  readonly opcode: number;
  readonly fin: boolean;
  readonly reserved: number;
  readonly masked: boolean;
  readonly payload: Buffer;
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

const WAIT_MS_MAX = 5_000;
const END_OF_HEADERS = '\r\n\r\n';

export class FrameClient implements AsyncDisposable {
  readonly socket: Socket;
  /** How TCP ended, once it has: `true` after an error such as a reset. */
  readonly ended: Promise<boolean>;
  readonly frames: ServerFrame[] = [];
  #head = '';
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #neededBytes = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.ended = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    // The promise `ended` reports it.
    socket.on('error', () => {});
  }

  /** Only TCP. */
  static async dial(port: number, host = '127.0.0.1'): Promise<FrameClient> {
    const client = new FrameClient(dial({ port, host }));
    await connected(client.socket);
    client.socket.setNoDelay(true);
    return client;
  }

  /** A WebSocket. */
  static async upgrade(port: number, request: string | Buffer = upgradeRequest(), host?: string): Promise<FrameClient> {
    const client = await FrameClient.dial(port, host);
    client.socket.write(request);
    await client.answered();
    if (client.status !== 101) throw new Error(`No upgrade: ${client.head}`);
    return client;
  }

  /** The answer to the request, up to its body. */
  get head(): string {
    const end = this.#head.indexOf(END_OF_HEADERS);
    return end < 0 ? '' : this.#head.slice(0, end);
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3}) /.exec(this.head)?.[1]);
  }

  /** The bytes after the head of an answer that is not an upgrade. */
  get body(): string {
    return this.#head.slice(this.#head.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length);
  }

  async answered(): Promise<void> {
    const ended = this.ended.then(() => {
      if (this.head === '') throw new Error('The connection ended without an answer');
    });
    while (this.head === '') {
      await within(WAIT_MS_MAX, 'the request is answered', Promise.race([once(this.socket, 'data'), ended]));
    }
  }

  /** Sends everything in one piece. */
  send(...frames: readonly BareFrame[]): void {
    this.socket.write(Buffer.concat(frames.map((frame) => encodeFrame(frame))));
  }

  sendText(text: string): void {
    this.send({ opcode: OPCODE.text, payload: Buffer.from(text) });
  }

  /** The oldest frame not taken yet, or the next one. */
  async next(): Promise<ServerFrame> {
    const frame = await waitFor('a frame arrives', () => this.frames.shift());
    return frame;
  }

  /** The code and reason of the close frame, once TCP has ended; `undefined` without one. */
  async goodbye(): Promise<{ readonly code: number; readonly reason: string } | undefined> {
    // As the protocol requires: the close frame is answered, and the server then ends TCP.
    await Promise.race([
      waitFor('a close frame arrives', () => this.frames.some(({ opcode }) => opcode === OPCODE.close)).catch(() => {}),
      this.ended,
    ]);
    const frame = this.frames.find(({ opcode }) => opcode === OPCODE.close);
    if (frame !== undefined && !this.socket.destroyed) this.send({ opcode: OPCODE.close, payload: frame.payload });
    await within(WAIT_MS_MAX, 'TCP ends', this.ended);
    if (frame === undefined) return undefined;
    const { payload } = frame;
    if (payload.length === 0) return { code: 1005, reason: '' };
    return { code: payload.readUInt16BE(0), reason: payload.subarray(2).toString() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.ended;
  }

  #take(bytes: Buffer): void {
    if (this.status !== 101) {
      this.#head += bytes.toString('latin1');
      if (this.status !== 101) return;
      const rest = this.body;
      this.#head = this.head + END_OF_HEADERS;
      if (rest !== '') this.#takeFrames(Buffer.from(rest, 'latin1'));
      return;
    }
    this.#takeFrames(bytes);
  }

  #takeFrames(bytes: Buffer): void {
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    // Large frames arrive in hundreds of pieces: they are joined when the last one is here.
    if (this.#unreadBytes < this.#neededBytes) return;
    let unread = Buffer.concat(this.#unread);
    for (;;) {
      const frame = decodeFrame(unread);
      if (typeof frame === 'number') {
        this.#unread = [unread];
        this.#unreadBytes = unread.length;
        this.#neededBytes = frame;
        return;
      }
      this.frames.push(frame);
      unread = unread.subarray(frameBytes(unread));
    }
  }
}

/** The request of a browser's WebSocket, with further header lines. */
export function upgradeRequest({ path = '/', host = '127.0.0.1', lines = [] as readonly string[] } = {}): string {
  const headers = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...lines,
  ];
  return headers.join('\r\n') + END_OF_HEADERS;
}

export function closeFrame(code: number | undefined, reason: string | Buffer = ''): BareFrame {
  if (code === undefined) return { opcode: OPCODE.close, payload: Buffer.alloc(0) };
  return { opcode: OPCODE.close, payload: Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]) };
}

/** The frame at the start of the bytes, or how many bytes are needed to know. */
function decodeFrame(bytes: Buffer): ServerFrame | number {
  const needed = frameBytes(bytes);
  if (bytes.length < needed) return needed;
  const [first = 0, second = 0] = bytes;
  return {
    opcode: first & 0x0f,
    fin: (first & 0x80) !== 0,
    reserved: (first >> 4) & 7,
    masked: (second & 0x80) !== 0,
    payload: bytes.subarray(headerBytes(second), needed),
  };
}

function frameBytes(bytes: Buffer): number {
  const second = bytes[1];
  if (second === undefined) return 2;
  const header = headerBytes(second);
  if (bytes.length < header) return header;
  if (header === 2) return 2 + (second & 0x7f);
  return header + (header === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)));
}

function headerBytes(second: number): number {
  const short = second & 0x7f;
  return short === 127 ? 10 : short === 126 ? 4 : 2;
}
