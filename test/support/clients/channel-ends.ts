// A channel of an engine in memory, and sockets for its ends. A reader keeps texts and bytes in one list.

import { type Credit, decodeCredit, encodeCredit } from '../../../src/protocol/frames/channel-credit.ts';
import { type ByteString, byteStringToText } from '../../../src/protocol/json/byte-string.ts';
import type { SocketEvents } from '../../../src/transport/socket.ts';
import type { EngineInMemory } from '../engine/engine-in-memory.ts';
import { FakeSocket } from '../fakes/fake-socket.ts';

/** A frame: text or bytes. */
export type PeerFrame = string | Uint8Array;

export class EndSocket extends FakeSocket {
  readonly frames: PeerFrame[] = [];
  /** Whether the client reads everything at once: only corked bytes are unread. */
  isEager = false;

  override cork(write: () => void): void {
    if (this.isEager) this.stopReading();
    super.cork(write);
    if (this.isEager) this.readOn();
  }

  override sendText(text: ByteString): boolean {
    const isTaken = super.sendText(text);
    if (isTaken && this.isOpen) this.frames.push(byteStringToText(text));
    return isTaken;
  }

  override sendBinary(bytes: Uint8Array): boolean {
    const isTaken = super.sendBinary(bytes);
    if (isTaken && this.isOpen) this.frames.push(new Uint8Array(bytes));
    return isTaken;
  }
}

export class ChannelEnd {
  readonly socket = new EndSocket();
  readonly #events: SocketEvents;

  constructor(connect: (socket: EndSocket) => SocketEvents) {
    let isTold = false;
    this.socket.whenEnded = (code) => {
      // As a transport does: an end within `connect` is reported as soon as there is a listener.
      if (isTold) this.#events.closed(code);
    };
    this.#events = connect(this.socket);
    isTold = true;
    if (!this.socket.isOpen) this.#events.closed(1006);
  }

  /** The client sends a frame. */
  say(frame: PeerFrame): void {
    if (typeof frame === 'string') this.#events.message(Buffer.from(frame), false);
    else this.#events.message(frame, true);
  }

  grant(credit: Credit): void {
    this.say(encodeCredit(credit));
  }

  /** The client closes the connection; 1006: it is lost. */
  leave(code = 1000, isOverlong = false): void {
    this.socket.markClosed();
    this.#events.closed(code, isOverlong);
  }

  /** All credit that it was granted so far. */
  get granted(): Credit {
    let [frames, bytes] = [0, 0];
    for (const frame of this.socket.frames) {
      const credit = typeof frame === 'string' ? decodeCredit(frame) : undefined;
      if (credit === undefined) throw new Error(`Not a grant: ${String(frame).slice(0, 100)}`);
      frames += credit.frames;
      bytes += credit.bytes;
    }
    return { frames, bytes };
  }
}

export interface DialOptions {
  /** It asked for `svc.channel.v1`. */
  readonly credit?: boolean;
  readonly eager?: boolean;
}

/** A new channel, and how to dial its ends. */
export function openChannel(engine: EngineInMemory, bufferSize?: number) {
  const { channels } = engine.context;
  const { writer, reader } = channels.create(bufferSize);
  const id = writer.channel_id;
  const dial = (direction: 'read' | 'write', { credit = false, eager = false }: DialOptions) =>
    new ChannelEnd((socket) => {
      socket.isEager = eager;
      return channels.connect({ id, key: '', direction, socket, keepsToCredit: credit });
    });
  return {
    id,
    key: writer.access_key,
    writerRef: writer,
    readerRef: reader,
    dialWriter: (options: DialOptions = {}) => dial('write', options),
    dialReader: (options: DialOptions = {}) => dial('read', options),
  };
}
