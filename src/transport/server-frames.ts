// WebSocket frames of a server: whole messages, never masked, never compressed; and the reason of a close frame.
//
// Header and payload share one buffer. The library `ws` would write them as two, and encode text that is bytes already.

import type { ByteString } from '../protocol/json/byte-string.ts';

export function textFrame(text: ByteString): Buffer {
  const frame = allocateFrame(WHOLE_TEXT, text.length);
  frame.write(text, frame.length - text.length, 'latin1');
  return frame;
}

/** Text that is UTF-8 bytes already; they are copied. */
export function textFrameOfBytes(bytes: Uint8Array): Buffer {
  const frame = allocateFrame(WHOLE_TEXT, bytes.length);
  frame.set(bytes, frame.length - bytes.length);
  return frame;
}

/** The bytes are copied. */
export function binaryFrame(bytes: Uint8Array): Buffer {
  const frame = allocateFrame(WHOLE_BINARY, bytes.length);
  frame.set(bytes, frame.length - bytes.length);
  return frame;
}

const WHOLE_TEXT = 0x81;
const WHOLE_BINARY = 0x82;
const LENGTH_IN_2 = 126;
const LENGTH_IN_8 = 127;

function allocateFrame(firstByte: number, payloadBytes: number): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes(payloadBytes) + payloadBytes);
  frame[0] = firstByte;
  if (payloadBytes < LENGTH_IN_2) {
    frame[1] = payloadBytes;
  } else if (payloadBytes < 2 ** 16) {
    frame[1] = LENGTH_IN_2;
    frame.writeUInt16BE(payloadBytes, 2);
  } else {
    frame[1] = LENGTH_IN_8;
    frame.writeBigUInt64BE(BigInt(payloadBytes), 2);
  }
  return frame;
}

function headerBytes(payloadBytes: number): number {
  if (payloadBytes < LENGTH_IN_2) return 2;
  return payloadBytes < 2 ** 16 ? 4 : 10;
}

export class PreparedTexts {
  /** UTF-8. They are shared and must not be changed. */
  readonly messages: readonly Uint8Array[];
  readonly bytes: number;
  #frames: Buffer | undefined;

  constructor(messages: readonly Uint8Array[]) {
    this.messages = messages;
    this.bytes = messages.reduce((sum, { length }) => sum + length, 0);
  }

  /** All of them as WebSocket frames in sequence, for code that writes to TCP itself. */
  get frames(): Buffer {
    this.#frames ??= Buffer.concat(this.messages.map(textFrameOfBytes));
    return this.#frames;
  }
}

/** As much of the reason as fits, in whole characters: half a character would break the protocol. */
export function fitReason(reason: string): string {
  // No text of this length is too long.
  if (reason.length <= REASON_BYTES_MAX / UTF8_BYTES_MAX) return reason;
  const { read } = ENCODER.encodeInto(reason, SCRATCH);
  return reason.slice(0, read);
}

const REASON_BYTES_MAX = 123;
/** Per UTF-16 unit. */
const UTF8_BYTES_MAX = 3;
const ENCODER = new TextEncoder();
const SCRATCH = new Uint8Array(REASON_BYTES_MAX);

/** The close reason for a client that sent a message over the limit. */
export function overlongReason(bytesMax: number): string {
  return `the limit of a message is ${bytesMax} bytes`;
}
