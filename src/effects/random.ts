// Unguessable values. Tests hand in a seeded source.

import { randomFillSync, randomUUID, timingSafeEqual } from 'node:crypto';

export interface Random {
  /** A version 4 UUID, lower case. */
  uuid(): string;
  /** 32 hexadecimal digits: 128 bits by chance. A third of the price of a UUID, for what is made for every request. */
  token(): string;
}

/** Asking the system for this many costs little more than for 16 of them. */
const POOL_BYTES = 16 * 1024;
const TOKEN_BYTES = 16;
/** Of this process alone: what is given out once is not given out again. */
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  token() {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += TOKEN_BYTES;
    return pool.toString('hex', used - TOKEN_BYTES, used);
  },
};

/** Compares secrets in a time that does not tell how much of a guess was right. */
export function equalSecrets(given: string, expected: string): boolean {
  const givenBytes = Buffer.from(given, 'utf8');
  const expectedBytes = Buffer.from(expected, 'utf8');
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
