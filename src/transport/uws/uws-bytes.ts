// Byte strings as bytes for uWebSockets.js.

import type { ByteString } from '../../protocol/json/byte-string.ts';

// The library copies bytes that it cannot write at once, so one buffer serves all small texts of all connections.
const SCRATCH = Buffer.allocUnsafeSlow(256 * 1024);

/** Valid until the next call. */
export function writeScratch(text: ByteString): Uint8Array {
  if (text.length > SCRATCH.length) return Buffer.from(text, 'latin1');
  return SCRATCH.subarray(0, SCRATCH.write(text, 0, 'latin1'));
}
