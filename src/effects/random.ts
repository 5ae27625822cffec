// Unguessable values. Tests hand in a seeded source.

import { randomUUID, timingSafeEqual } from 'node:crypto';

export interface Random {
  /** A version 4 UUID, lower case. */
  uuid(): string;
}

export const systemRandom: Random = { uuid: () => randomUUID() };

/** Compares secrets in a time that does not tell how much of a guess was right. */
export function equalSecrets(given: string, expected: string): boolean {
  const givenBytes = Buffer.from(given, 'utf8');
  const expectedBytes = Buffer.from(expected, 'utf8');
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
