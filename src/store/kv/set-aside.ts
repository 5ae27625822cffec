// Damaged records that a module skips (D9). Each is moved under a key of its own, with a valid checksum. At its old
// place, the check at the next start would take the whole store for damaged (R5), and its bytes may still show what was
// lost.
//
//   key     d · when, six bytes of milliseconds · the first 16 bytes of the SHA-256 of the key it had
//   value   length of that key, two bytes · that key · the record as it lay, its checksum included

import { createHash } from 'node:crypto';
import { SPACE } from './keys.ts';
import type { Kv } from './kv.ts';

const TIME_BYTES = 6;
const DIGEST_BYTES = 16;
const KEY_AT = 2;

/** Returns whether there was one. */
export function setRecordAside(kv: Kv, key: Uint8Array, nowMs: number): boolean {
  const record = kv.raw(key);
  if (record === undefined) return false;
  const value = Buffer.alloc(KEY_AT + key.length + record.length);
  value.writeUInt16BE(key.length, 0);
  value.set(key, KEY_AT);
  value.set(record, KEY_AT + key.length);
  kv.remove(key);
  kv.put(keyAside(key, nowMs), value);
  return true;
}

function keyAside(key: Uint8Array, nowMs: number): Buffer {
  const aside = Buffer.alloc(1 + TIME_BYTES + DIGEST_BYTES);
  aside[0] = SPACE.setAside;
  aside.writeUIntBE(nowMs, 1, TIME_BYTES);
  createHash('sha256')
    .update(key)
    .digest()
    .copy(aside, 1 + TIME_BYTES, 0, DIGEST_BYTES);
  return aside;
}
