// One connection on `ws`.
//
// Job: turn the library's events into those of the engine. The library reads. Data frames are written directly to the
// socket, between two frames of the library, which writes whole frames too.
// Neighbours: `ws-transport.ts` accepts connections and keeps their time limits.
// Invariants:
//   - `closed` is called once, at the moment when the end is known; TCP may close later.
//   - After that nothing is reported and nothing is sent.

import type { Socket } from 'node:net';
import type { Clock } from '../../effects/clock.ts';
import { CLOSE_CODES } from '../../protocol/frames/close-codes.ts';
import type { ByteString } from '../../protocol/json/byte-string.ts';
import { binaryFrame, fitReason, type PreparedTexts, textFrame } from '../server-frames.ts';
import type { PeerSocket, SocketEvents } from '../socket.ts';
import type { Ending, ServerWebSocket } from './ws-library.ts';

export class WsPeer implements PeerSocket {
  readonly #socket: ServerWebSocket;
  readonly #stream: Socket;
  readonly #progress = new MessageProgress();
  #events: SocketEvents | undefined;
  #isOpen = true;

  constructor(socket: ServerWebSocket, stream: Socket, clock: Clock) {
    this.#socket = socket;
    this.#stream = stream;
    socket.whenEnding = (ending) => this.#ending(ending);
    // The library also closes after an error, and that close is reported.
    socket.on('error', () => {});
    // Before the library's own listener, which emits messages while it reads.
    stream.prependListener('data', (chunk: Buffer) => this.#progress.take(chunk, clock.monotonicMs()));
    // Without a close frame. The library would wait until everything unsent is read, by a client that may have left.
    stream.once('end', () => this.terminate());
    stream.once('close', () => this.#end(ABNORMAL));
  }

  /** From here on the connection reports events. */
  attach(events: SocketEvents): void {
    if (!this.#isOpen) return events.closed(ABNORMAL);
    this.#events = events;
    this.#socket.on('message', (data, isBinary) => {
      // The library gives buffers by default. It reads on after the engine has closed.
      if (this.#isOpen && Buffer.isBuffer(data)) events.message(data, isBinary);
    });
    const heard = (): void => {
      if (this.#isOpen) events.heard();
    };
    this.#socket.on('ping', heard);
    this.#socket.on('pong', heard);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get bufferedBytes(): number {
    return this.#isOpen ? this.#stream.writableLength : 0;
  }

  /** How long the current message has been arriving; 0 between messages. */
  messageAgeMs(nowMs: number): number {
    return nowMs - (this.#progress.beganMs ?? nowMs);
  }

  sendText(text: ByteString): boolean {
    if (this.#isOpen) this.#stream.write(textFrame(text));
    return true;
  }

  sendPrepared({ frames }: PreparedTexts): boolean {
    if (this.#isOpen) this.#stream.write(frames);
    return true;
  }

  sendBinary(bytes: Uint8Array): boolean {
    if (this.#isOpen) this.#stream.write(binaryFrame(bytes));
    return true;
  }

  cork(write: () => void): void {
    if (!this.#isOpen) return;
    this.#stream.cork();
    try {
      write();
    } finally {
      this.#stream.uncork();
    }
  }

  whenDrained(drained: () => void): void {
    if (!this.#isOpen) return;
    // The library's `drain` comes only when the stream was over its mark; a write completes after all writes before it.
    this.#stream.write(NOTHING, (error) => {
      if (this.#isOpen && !error) drained();
    });
  }

  ping(): void {
    if (this.#isOpen) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.close(code, fitReason(reason));
    // A client in the middle of a message cannot answer, and the rest of its message is not needed.
    this.#stream.end();
    this.#events?.closed(code);
  }

  terminate(): void {
    if (!this.#isOpen) return;
    this.#socket.terminate();
    this.#end(ABNORMAL);
  }

  #ending({ code, isOffence }: Ending): void {
    this.#end(code, isOffence && code === CLOSE_CODES.messageTooBig);
  }

  #end(code: number, isOverlong = false): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#events?.closed(code, isOverlong);
  }
}

const ABNORMAL = 1006;
const NOTHING = new Uint8Array(0);

export class MessageProgress {
  #beganMs: number | undefined;
  /** The last data frame was not the final one of its message. */
  #isFragmented = false;
  #payloadLeft = 0;
  #headerBytes = 0;
  #headerLength = 2;
  #firstByte = 0;
  #lengthBytes = 0;
  #length = 0;

  get beganMs(): number | undefined {
    return this.#beganMs;
  }

  /** The next bytes from the client, in pieces of any size. */
  take(chunk: Uint8Array, nowMs: number): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#payloadLeft === 0) {
        this.#takeHeaderByte(chunk[at] ?? 0, nowMs);
        at += 1;
      } else {
        const taken = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= taken;
        at += taken;
        if (this.#payloadLeft === 0) this.#endFrame();
      }
    }
  }

  #takeHeaderByte(byte: number, nowMs: number): void {
    const at = this.#headerBytes++;
    if (at === 0) {
      this.#beganMs ??= nowMs;
      this.#firstByte = byte;
      return;
    }
    if (at === 1) {
      const short = byte & SHORT_LENGTH;
      this.#lengthBytes = short === LENGTH_IN_8 ? 8 : short === LENGTH_IN_2 ? 2 : 0;
      this.#length = this.#lengthBytes === 0 ? short : 0;
      this.#headerLength = 2 + this.#lengthBytes + (byte & MASKED ? MASK_BYTES : 0);
    } else if (at < 2 + this.#lengthBytes) {
      // Beyond 2^53 the length is not exact, and over every limit.
      this.#length = this.#length * 256 + byte;
    }
    if (this.#headerBytes === this.#headerLength) this.#endHeader();
  }

  #endHeader(): void {
    this.#headerBytes = 0;
    this.#payloadLeft = this.#length;
    if (this.#payloadLeft === 0) this.#endFrame();
  }

  #endFrame(): void {
    // Pings may come between the fragments of a message and do not end it.
    const isControl = (this.#firstByte & CONTROL) !== 0;
    if (!isControl) this.#isFragmented = (this.#firstByte & FINAL) === 0;
    if (!this.#isFragmented) this.#beganMs = undefined;
  }
}

const FINAL = 0x80;
const CONTROL = 0x08;
const MASKED = 0x80;
const SHORT_LENGTH = 0x7f;
const LENGTH_IN_2 = 126;
const LENGTH_IN_8 = 127;
const MASK_BYTES = 4;
