// Text in memory through Buffer, which writes and reads a short text three times as fast as TextEncoder.

import type { TextSource } from './text-memory.ts';

export const nodeText: TextSource = {
  read: (source, start, end) => asBuffer(source).toString('utf8', start, end),
  readNarrow: (source, start, end) => asBuffer(source).toString('latin1', start, end),
  readWide: (source, start, end) => asBuffer(source).toString('utf16le', start, end),
};

/** All memory allocated through Node already consists of Buffers. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
