// A socket without a network. It keeps what the engine sends, can stop reading, and can lose a frame.

import { type ByteString, byteStringToText, bytesToByteString } from '../../../src/protocol/json/byte-string.ts';
import type { PreparedTexts } from '../../../src/transport/server-frames.ts';
import type { PeerSocket } from '../../../src/transport/socket.ts';

/** A frame of the engine as the client reads it. */
export interface ReceivedFrame {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type Farewell = { readonly code: number; readonly reason: string } | 'terminated';

export class FakeSocket implements PeerSocket {
  isOpen = true;
  /** The bytes that the client has not read; grows only after `stopReading`. */
  bufferedBytes = 0;
  /** True: the library drops every frame. */
  isDropping = false;
  pingCount = 0;
  /** The number of writes: all frames of one `cork` are one write. */
  writeCount = 0;
  farewell: Farewell | undefined;
  /** Runs when the engine ends the connection, within its call, as with the library. */
  whenEnded: (code: number) => void = () => {};
  readonly texts: string[] = [];
  readonly batches: Uint8Array[] = [];
  readonly #frames: ReceivedFrame[] = [];
  #isReading = true;
  #onDrained: (() => void) | undefined;
  #taken = 0;

  stopReading(): void {
    this.#isReading = false;
  }

  readOn(): void {
    this.#isReading = true;
    this.bufferedBytes = 0;
    this.emitDrained();
  }

  /** Reads what was unread when the engine called `whenDrained`. */
  emitDrained(): void {
    const done = this.#onDrained;
    this.#onDrained = undefined;
    done?.();
  }

  /** The frames since the last call. */
  takeFrames(): ReceivedFrame[] {
    const fresh = this.allFrames().slice(this.#taken);
    this.#taken = this.texts.length;
    return fresh;
  }

  allFrames(): readonly ReceivedFrame[] {
    for (const text of this.texts.slice(this.#frames.length)) this.#frames.push(parseFrame(text));
    return this.#frames;
  }

  sendText(text: ByteString): boolean {
    if (this.farewell !== undefined) throw new Error(`Sent after the goodbye: ${text.slice(0, 200)}`);
    if (!this.isOpen) return true;
    if (this.isDropping) return false;
    if (!this.#isReading) this.bufferedBytes += text.length;
    this.texts.push(byteStringToText(text));
    return true;
  }

  sendPrepared({ messages }: PreparedTexts): boolean {
    this.writeCount++;
    return messages.map((message) => this.sendText(bytesToByteString(message))).every((isSent) => isSent);
  }

  sendBinary(bytes: Uint8Array): boolean {
    if (this.farewell !== undefined) throw new Error(`Sent after the goodbye: ${bytes.length} bytes`);
    if (!this.isOpen) return true;
    if (this.isDropping) return false;
    if (!this.#isReading) this.bufferedBytes += bytes.length;
    // The engine uses its buffer again as soon as this returns. Not `slice`: of a Buffer that would be a view.
    this.batches.push(new Uint8Array(bytes));
    return true;
  }

  cork(write: () => void): void {
    this.writeCount++;
    write();
  }

  whenDrained(done: () => void): void {
    if (this.#onDrained !== undefined) throw new Error('Asked twice');
    this.#onDrained = done;
  }

  ping(): void {
    this.pingCount++;
  }

  close(code: number, reason: string): void {
    this.#end({ code, reason });
  }

  terminate(): void {
    this.#end('terminated');
  }

  /** The peer is gone. */
  markClosed(): void {
    this.isOpen = false;
  }

  #end(farewell: Farewell): void {
    if (this.farewell !== undefined) throw new Error('Ended twice by the engine');
    if (!this.isOpen) return;
    this.isOpen = false;
    this.farewell = farewell;
    this.whenEnded(farewell === 'terminated' ? 1006 : farewell.code);
  }
}

function parseFrame(text: string): ReceivedFrame {
  const frame: unknown = JSON.parse(text);
  if (typeof frame !== 'object' || frame === null || !('type' in frame) || typeof frame.type !== 'string') {
    throw new Error(`Not a frame: ${text.slice(0, 200)}`);
  }
  return { ...frame, type: frame.type };
}
