// A peer's socket without a network. It keeps what the engine sends, can stop reading, and can lose a frame.

import { type ByteString, byteStringToText, bytesToByteString } from '../../../src/protocol/json/byte-string.ts';
import type { PreparedTexts } from '../../../src/transport/server-frames.ts';
import type { PeerSocket } from '../../../src/transport/socket.ts';

/** A frame of the engine as its peer reads it. */
export interface ReceivedFrame {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type Farewell = { readonly code: number; readonly reason: string } | 'terminated';

export class FakeSocket implements PeerSocket {
  isOpen = true;
  /** What the peer has not read yet; grows only after `stopReading`. */
  bufferedBytes = 0;
  /** From now on the library drops what it is given. */
  isDropping = false;
  pingCount = 0;
  /** How many writes there were: all frames of one `cork` leave in one. */
  writeCount = 0;
  farewell: Farewell | undefined;
  /** Told of the end by the engine's own hand at once, from within its call, as the library does. */
  whenEnded: (code: number) => void = () => {};
  readonly texts: string[] = [];
  readonly batches: Uint8Array[] = [];
  readonly #frames: ReceivedFrame[] = [];
  #isReading = true;
  #tellDrained: (() => void) | undefined;
  #taken = 0;

  stopReading(): void {
    this.#isReading = false;
  }

  readOn(): void {
    this.#isReading = true;
    this.bufferedBytes = 0;
    this.tellDrained();
  }

  /** What was unread when the engine asked is read; more may have come since. */
  tellDrained(): void {
    const told = this.#tellDrained;
    this.#tellDrained = undefined;
    told?.();
  }

  /** The frames that came since the last look. */
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

  whenDrained(told: () => void): void {
    if (this.#tellDrained !== undefined) throw new Error('Asked twice');
    this.#tellDrained = told;
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
