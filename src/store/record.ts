// A record as it lies on the disk: value, checksum over key and value, format version (D9).
//
//   value …   crc32, 4 bytes, little end   version
//
// The key is part of the sum: a value that turns up under a key it was not written for is a damaged record too.

import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';

export const RECORD_VERSION = 1;
export const RECORD_OVERHEAD_BYTES = 5;

/** A record that does not say what was written. Never handed on as a value. */
export class DamagedRecord extends Error {
  /** Valid as long as what was asked. */
  readonly key: Uint8Array;

  constructor(reason: string, key: Uint8Array) {
    super(`The stored record ${reason}`);
    this.name = 'DamagedRecord';
    this.key = key;
  }
}

export function sealRecord(key: Uint8Array, value: Uint8Array): Buffer {
  const record = Buffer.allocUnsafe(value.length + RECORD_OVERHEAD_BYTES);
  record.set(value, 0);
  record.writeUInt32LE(crc32(value, crc32(key)), value.length);
  record[value.length + 4] = RECORD_VERSION;
  return record;
}

/** The value, a view of the record. Throws `DamagedRecord`. */
export function openRecord(key: Uint8Array, record: Buffer): Buffer {
  const value = record.subarray(0, Math.max(0, record.length - RECORD_OVERHEAD_BYTES));
  checkRecord(key, record, value);
  return value;
}

/** The same as a copy, for a record in memory that somebody else is about to use again. */
export function copyOfRecord(key: Uint8Array, record: Buffer): Buffer {
  const value = Buffer.allocUnsafe(Math.max(0, record.length - RECORD_OVERHEAD_BYTES));
  record.copy(value, 0, 0, value.length);
  checkRecord(key, record, value);
  return value;
}

function checkRecord(key: Uint8Array, record: Buffer, value: Uint8Array): void {
  const at = record.length - RECORD_OVERHEAD_BYTES;
  if (at < 0) throw new DamagedRecord(`has only ${record.length} bytes`, key);
  if (record[at + 4] !== RECORD_VERSION) throw new DamagedRecord(`has the unknown format ${record[at + 4]}`, key);
  if (crc32(value, crc32(key)) !== record.readUInt32LE(at)) throw new DamagedRecord('fails its checksum', key);
}
