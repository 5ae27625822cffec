// A record as it lies on the disk: the value, the time of writing where that is kept, a checksum over the key and
// everything before it, and the format version (D9).
//
//   value …                                crc32, 4 bytes   1
//   value …   milliseconds, 6 bytes        crc32, 4 bytes   2
//
// Numbers are little-endian. The checksum includes the key, so a value under a key it was not written for is a damaged
// record too. A damaged record that was set aside lies, with a valid checksum, as
//
//   key     d · when, six bytes of milliseconds · the first 16 bytes of the SHA-256 of the key it had
//   value   length of that key, two bytes · that key · the record as it lay, its checksum included

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SPACE } from './keys.ts';
import type { Kv } from './kv.ts';

const VERSION = { plain: 1, timed: 2 } as const;
const TIME_BYTES = 6;
/** The checksum and the version, which come last. */
export const RECORD_OVERHEAD_BYTES = 5;

export function isKnownVersion(version: number | undefined): boolean {
  return version === VERSION.plain || version === VERSION.timed;
}

/** A record that does not match its checksum or format. Never returned as a value. */
export class DamagedRecord extends Error {
  /** Valid as long as the value that was requested. */
  readonly key: Uint8Array;

  constructor(reason: string, key: Uint8Array) {
    super(`The stored record ${reason}`);
    this.name = 'DamagedRecord';
    this.key = key;
  }
}

export function sealRecord(key: Uint8Array, value: Uint8Array, writtenMs?: number): Buffer {
  const sumAt = value.length + (writtenMs === undefined ? 0 : TIME_BYTES);
  const record = Buffer.allocUnsafe(sumAt + RECORD_OVERHEAD_BYTES);
  record.set(value, 0);
  if (writtenMs !== undefined) record.writeUIntLE(writtenMs, value.length, TIME_BYTES);
  record.writeUInt32LE(crc32(record.subarray(0, sumAt), crc32(key)), sumAt);
  record[sumAt + 4] = writtenMs === undefined ? VERSION.plain : VERSION.timed;
  return record;
}

/** The value, a view of the record. Throws `DamagedRecord`. */
export function openRecord(key: Uint8Array, record: Buffer): Buffer {
  const summed = record.subarray(0, Math.max(0, record.length - RECORD_OVERHEAD_BYTES));
  checkRecord(key, record, summed);
  return valueIn(summed, record);
}

/** The same as a copy, for a record in memory that is about to be reused. */
export function copyOfRecord(key: Uint8Array, record: Buffer): Buffer {
  const summed = Buffer.allocUnsafe(Math.max(0, record.length - RECORD_OVERHEAD_BYTES));
  record.copy(summed, 0, 0, summed.length);
  checkRecord(key, record, summed);
  return valueIn(summed, record);
}

/** The value of a record that this process sealed: a view of it. */
export function valueOfOwn(record: Buffer): Buffer {
  return valueIn(record.subarray(0, record.length - RECORD_OVERHEAD_BYTES), record);
}

/** When an intact record was written, if that is kept. */
export function writtenMsOf(record: Buffer): number | undefined {
  if (!isTimed(record)) return undefined;
  return record.readUIntLE(record.length - RECORD_OVERHEAD_BYTES - TIME_BYTES, TIME_BYTES);
}

function isTimed(record: Buffer): boolean {
  return record[record.length - 1] === VERSION.timed;
}

function valueIn(summed: Buffer, record: Buffer): Buffer {
  return isTimed(record) ? summed.subarray(0, summed.length - TIME_BYTES) : summed;
}

function checkRecord(key: Uint8Array, record: Buffer, summed: Buffer): void {
  const at = record.length - RECORD_OVERHEAD_BYTES;
  if (at < (isTimed(record) ? TIME_BYTES : 0)) throw new DamagedRecord(`has only ${record.length} bytes`, key);
  if (!isKnownVersion(record[at + 4])) throw new DamagedRecord(`has the unknown format ${record[at + 4]}`, key);
  if (crc32(summed, crc32(key)) !== record.readUInt32LE(at)) throw new DamagedRecord('fails its checksum', key);
}

const DIGEST_BYTES = 16;
const KEY_AT = 2;

/**
 * Moves a damaged record that a module skips under a key of its own (D9). Returns whether there was one. Under its old
 * key, the check at the next start would take the whole store for damaged (R5); its bytes may still show what was lost.
 */
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
