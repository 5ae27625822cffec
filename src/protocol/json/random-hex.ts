// Unguessable hexadecimal digits, for ids made for every call. Node only.

import { randomFillSync } from 'node:crypto';

/** One request to the system for this many costs little more than one for 16. */
const POOL_BYTES = 16 * 1024;
/** For this thread only; no byte is used twice. */
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/** Two digits per byte. */
export function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
