// A record as it lies on the disk: value, checksum over key and value, format version (D9).
//
//   value …   crc32, 4 bytes, little end   version
//
// The key is part of the sum: a value that turns up under a key it was not written for is a damaged record too.

import { crc32 } from 'node:zlib';

export const RECORD_VERSION = 1;
export const RECORD_OVERHEAD_BYTES = 5;

/** A record that does not say what was written. Never handed on as a value. */
export class DamagedRecord extends Error {
  constructor(reason: string) {
    super(`The stored record ${reason}`);
    this.name = 'DamagedRecord';
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
  const length = record.length - RECORD_OVERHEAD_BYTES;
  if (length < 0) throw new DamagedRecord(`has only ${record.length} bytes`);
  if (record[length + 4] !== RECORD_VERSION) throw new DamagedRecord(`has the unknown format ${record[length + 4]}`);
  const value = record.subarray(0, length);
  if (crc32(value, crc32(key)) !== record.readUInt32LE(length)) throw new DamagedRecord('fails its checksum');
  return value;
}
