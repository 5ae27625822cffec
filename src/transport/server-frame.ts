// WebSocket frames of a server: whole messages, never masked, never compressed.
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
