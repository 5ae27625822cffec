// Frames messages as RFC 6455 requires it of a client: many texts in one piece of memory, or bytes in place.
//
// Passing each message to the library instead costs two chunks per message, and joining those chunks into one write
// took a third of all time of a busy caller.

import { asBuffer } from '../../protocol/json/node-text.ts';

/** One final text frame per message, each with a mask of zeros. */
export function frameTexts(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  let total = 0;
  for (const size of sizes) total += headerBytes(size) + size;
  const frames = Buffer.allocUnsafe(total);
  let at = 0;
  for (const [index, text] of texts.entries()) {
    at = writeHeader(frames, at, FINAL_TEXT, sizes[index] ?? 0);
    at += frames.write(text, at);
  }
  return frames;
}

/** One final binary frame. Its header is written in front of `start`, where there is room for the longest header. */
export function frameBytes(memory: Uint8Array, start: number, end: number): Buffer {
  const size = end - start;
  const frame = asBuffer(memory).subarray(start - headerBytes(size), end);
  writeHeader(frame, 0, FINAL_BINARY, size);
  return frame;
}

const FINAL_TEXT = 0x81;
const FINAL_BINARY = 0x82;
const MASKED = 0x80;
const MASK_BYTES = 4;
/** Payloads up to this size have it in the second byte; for larger ones that byte says which size field follows. */
const SIZE_IN_BYTE_MAX = 125;
const SIZE_IN_16_BITS = 126;
const SIZE_IN_64_BITS = 127;

function headerBytes(size: number): number {
  if (size <= SIZE_IN_BYTE_MAX) return 2 + MASK_BYTES;
  return (size <= 0xffff ? 4 : 10) + MASK_BYTES;
}

function writeHeader(frames: Buffer, start: number, kind: number, size: number): number {
  let at = frames.writeUInt8(kind, start);
  if (size <= SIZE_IN_BYTE_MAX) {
    at = frames.writeUInt8(MASKED | size, at);
  } else if (size <= 0xffff) {
    at = frames.writeUInt8(MASKED | SIZE_IN_16_BITS, at);
    at = frames.writeUInt16BE(size, at);
  } else {
    at = frames.writeUInt8(MASKED | SIZE_IN_64_BITS, at);
    at = frames.writeUInt32BE(Math.floor(size / 2 ** 32), at);
    at = frames.writeUInt32BE(size % 2 ** 32, at);
  }
  return frames.writeUInt32BE(0, at);
}
