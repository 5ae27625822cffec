// One connection on `ws`.
//
// Job: make the library's events those of the engine. The library reads; frames of data are written past it, straight
// to the socket between two of its own, which are whole as well.
// Neighbours: `ws-transport.ts` accepts connections and looks after their time limits.
// Invariants:
//   P1  `closed` is told once, at the moment when the end is known; TCP may take its time behind it.
//   P2  After it nothing is told and nothing is sent.

import type { Socket } from 'node:net';
import type { Clock } from '../effects/clock.ts';
import type { ByteString } from '../protocol/byte-string.ts';
import { CLOSE_CODES } from '../protocol/close-codes.ts';
import { fitReason } from './close-reason.ts';
import { MessageProgress } from './message-progress.ts';
import type { PreparedTexts } from './prepared-texts.ts';
import { binaryFrame, textFrame } from './server-frame.ts';
import type { PeerSocket, SocketEvents } from './socket.ts';
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
    // What the library complains of it closes as well, and that is told.
    socket.on('error', () => {});
    // Before the library's own listener: it hands out messages while it reads.
    stream.prependListener('data', (chunk: Buffer) => this.#progress.take(chunk, clock.monotonicMs()));
    // Without a goodbye. The library would wait until everything unsent is read, by a peer that may have left.
    stream.once('end', () => this.terminate());
    stream.once('close', () => this.#end(ABNORMAL));
  }

  /** From here on it tells what happens. */
  tell(events: SocketEvents): void {
    if (!this.#isOpen) return events.closed(ABNORMAL);
    this.#events = events;
    this.#socket.on('message', (data, isBinary) => {
      // The library gives buffers unless told otherwise. It reads on after we have closed.
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

  /** How long the message that is being received has been on its way; 0 between messages. */
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

  whenDrained(told: () => void): void {
    if (!this.#isOpen) return;
    // The library's `drain` comes only where more waited than the stream likes; a write is done behind all before it.
    this.#stream.write(NOTHING, (error) => {
      if (this.#isOpen && !error) told();
    });
  }

  ping(): void {
    if (this.#isOpen) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#socket.close(code, fitReason(reason));
    // A peer in the middle of a message cannot answer, and what it says is of no use any more.
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
