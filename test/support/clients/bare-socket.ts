// A WebSocket connection made by hand on a TCP socket, so that a test can break every rule of RFC 6455.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { within } from '../wait-for.ts';

export interface BareFrame {
  readonly opcode: number;
  readonly payload: Uint8Array;
  /** False: more fragments follow. */
  readonly fin?: boolean;
  /** The three reserved bits, as a number from 0 to 7. */
  readonly reserved?: number;
  /** False: the payload is not masked, which only servers may do. */
  readonly masked?: boolean;
  /** The value of the length field, if it is not the real length. */
  readonly claimedLength?: number | bigint;
}

const MASK = Buffer.from([0x5a, 0x0f, 0xc3, 0x91]);

export function encodeFrame(frame: BareFrame): Buffer {
  const { opcode, payload, fin = true, reserved = 0, masked = true, claimedLength = payload.length } = frame;
  const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  const header = Buffer.concat([Buffer.from([first]), encodeLength(claimedLength, masked)]);
  if (!masked) return Buffer.concat([header, payload]);
  return Buffer.concat([header, MASK, payload.map((byte, index) => byte ^ (MASK[index % 4] ?? 0))]);
}

function encodeLength(length: number | bigint, masked: boolean): Buffer {
  const maskBit = masked ? 0x80 : 0;
  if (length < 126) return Buffer.from([maskBit | Number(length)]);
  const short = length < 65_536;
  const bytes = Buffer.alloc(short ? 3 : 9);
  bytes[0] = maskBit | (short ? 126 : 127);
  if (short) bytes.writeUInt16BE(Number(length), 1);
  else bytes.writeBigUInt64BE(BigInt(length), 1);
  return bytes;
}

export class BareSocket implements AsyncDisposable {
  readonly #socket: Socket;
  /** Everything received, as text with one character per byte. */
  #received = '';
  readonly #closed: Promise<unknown>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('latin1');
    });
    // The close event that follows counts: the engine may reset a connection that breaks the rules.
    socket.on('error', () => {});
  }

  /** Connects and sends nothing. */
  static async dial(port: number): Promise<BareSocket> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new BareSocket(socket);
  }

  /** Connects and upgrades to a WebSocket. */
  static async upgrade(port: number, path = '/', subprotocol?: string): Promise<BareSocket> {
    const bare = await BareSocket.dial(port);
    const asks = subprotocol === undefined ? '' : `Sec-WebSocket-Protocol: ${subprotocol}\r\n`;
    bare.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
        `${asks}\r\n`,
    );
    await within(5_000, 'the upgrade is answered', once(bare.#socket, 'data'));
    if (!bare.received.startsWith('HTTP/1.1 101 ')) throw new Error(`No upgrade: ${bare.received.slice(0, 200)}`);
    return bare;
  }

  get received(): string {
    return this.#received;
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  write(bytes: Uint8Array | string): void {
    if (this.isOpen) this.#socket.write(bytes);
  }

  /** Writes and waits until the operating system has taken it. */
  async writeAll(bytes: Uint8Array): Promise<void> {
    if (!this.isOpen) return;
    const taken = new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve()));
    await Promise.race([taken, this.#closed]);
  }

  /** Waits until the engine has ended the connection. */
  async thrownOut(what: string): Promise<void> {
    await within(5_000, `${what} ends the connection`, this.#closed);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    await this.#closed;
  }
}
