// Hexadecimal digits that nobody can guess, for what is made for every call. Only where there is Node.

import { randomFillSync } from 'node:crypto';

/** Asking the system for this many costs little more than for 16 of them. */
const POOL_BYTES = 16 * 1024;
/** Of this thread alone: what is given out once is not given out again. */
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/** Two digits a byte. */
export function randomHex(bytes: number): string {
  if (used + bytes > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
