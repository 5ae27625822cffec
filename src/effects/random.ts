// Unguessable values. Tests pass in a seeded source.

import { randomUUID, timingSafeEqual } from 'node:crypto';
import { randomHex, randomLetters } from '../protocol/json/node-bytes.ts';

export interface Random {
  /** A version 4 UUID, lower case. */
  uuid(): string;
  /** 32 hexadecimal digits: 128 random bits. A third of the cost of a UUID, for ids that every request needs. */
  token(): string;
  /** 22 letters and digits: as many random bits as a token, in fewer bytes. */
  key(): string;
  /** From 0 to below 1. For choices where guessing gains nothing: the cheapest of these. */
  fraction(): number;
}

const TOKEN_BYTES = 16;
/** Of six bits each. */
const KEY_LETTERS = 22;

export const systemRandom: Random = {
  uuid: () => randomUUID(),
  token: () => randomHex(TOKEN_BYTES),
  key: () => randomLetters(KEY_LETTERS),
  fraction: () => Math.random(),
};

/** A secret of 32 bits, for hashes of what clients choose. */
export function randomSeed(): number {
  return Number.parseInt(randomHex(4), 16);
}

/** Compares secrets in a time that does not reveal how much of a guess was right. */
export function equalSecrets(given: string, expected: string): boolean {
  const givenBytes = Buffer.from(given, 'utf8');
  const expectedBytes = Buffer.from(expected, 'utf8');
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes);
}
