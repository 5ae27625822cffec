// Bytes that stay in memory for long. Short ones are strings of one character a byte, because a small buffer is cut
// from a pool of the whole thread: keeping one of a few bytes would keep the whole block of the pool.

import { Buffer } from 'node:buffer';

export type KeptBytes = Buffer | string;

/** A copy. */
export function keptBytes(bytes: Uint8Array): KeptBytes {
  return isPooled(bytes.length) ? byteText(bytes) : Buffer.from(bytes);
}

export function bufferOf(kept: KeptBytes): Buffer {
  return typeof kept === 'string' ? Buffer.from(kept, 'latin1') : kept;
}

/** One character a byte: such strings sort as the bytes do. */
export function byteText(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}

/** The same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** A thread may set its pool size after this file was loaded. */
function isPooled(bytes: number): boolean {
  return bytes < Buffer.poolSize >>> 1;
}
