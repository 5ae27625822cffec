// Keys of the buckets that the engines of a cluster share. What users name can hold any character and any length; a key
// cannot.

import { createHash } from 'node:crypto';

/** A text of more bytes is represented by its digest, and the value carries the text. */
const TEXT_BYTES_MAX = 120;

export interface KeyPart {
  readonly part: string;
  /** Whether the value has to carry the text. */
  readonly isDigest: boolean;
}

/** A text of users as one part of a key. */
export function keyPart(text: string): KeyPart {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= TEXT_BYTES_MAX) return { part: bytes.toString('base64url'), isDigest: false };
  return { part: createHash('sha256').update(bytes).digest('base64url'), isDigest: true };
}

/** The text of a part that is no digest. */
export function textOfPart(part: string): string {
  return Buffer.from(part, 'base64url').toString('utf8');
}
