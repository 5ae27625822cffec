// One record of a journal: the changes of one transaction.
//
//   salt, 8 bytes · length of the body, 4 · crc32 of number and body, 4 · number, 6 · two zero bytes · body
//
// The body has the changes one after the other: length of the key, 2 bytes · length of the record, 4 · key · record.
// A removed key has the length 2^32 - 1 and no record. Numbers are little-endian. Each record begins at a multiple of
// 512, the unit in which disks write, so that a write that is cut short cannot damage the record before it.
//
// The salt is a secret of the store: users choose the values that lie in a journal, and with it a value cannot be taken
// for a record.

import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import type { Changed } from './change-set.ts';

export const SALT_BYTES = 8;
const LENGTH_AT = SALT_BYTES;
const SUM_AT = LENGTH_AT + 4;
const NUMBER_AT = SUM_AT + 4;
const BODY_AT = NUMBER_AT + 8;
const SECTOR_BYTES = 512;
const REMOVED = 0xffff_ffff;
const ENTRY_HEADER_BYTES = 6;

export interface JournalRecord {
  /** Of the transaction: one more than that of the one before. */
  readonly number: number;
  /** `null`: the key was removed. */
  readonly changes: readonly (readonly [key: Buffer, record: Buffer | null])[];
}

/** Writes records into the same memory again and again. */
export class RecordWriter {
  readonly #salt: Buffer;
  #bytes = Buffer.alloc(64 * 1024);

  constructor(salt: Buffer) {
    this.#salt = salt;
  }

  /** Whole sectors. Valid until the next one. */
  write(number: number, changes: Iterable<readonly [key: string, record: Changed]>): Buffer {
    let at = BODY_AT;
    for (const [key, record] of changes) {
      const bytes = ENTRY_HEADER_BYTES + key.length + (record?.length ?? 0);
      this.#makeRoom(at, bytes);
      this.#bytes.writeUInt16LE(key.length, at);
      this.#bytes.writeUInt32LE(record === null ? REMOVED : record.length, at + 2);
      this.#bytes.write(key, at + ENTRY_HEADER_BYTES, 'latin1');
      const recordAt = at + ENTRY_HEADER_BYTES + key.length;
      if (typeof record === 'string') this.#bytes.write(record, recordAt, 'latin1');
      else if (record !== null) this.#bytes.set(record, recordAt);
      at += bytes;
    }
    this.#salt.copy(this.#bytes);
    this.#bytes.writeUInt32LE(at - BODY_AT, LENGTH_AT);
    this.#bytes.writeUIntLE(number, NUMBER_AT, 6);
    this.#bytes.writeUInt16LE(0, NUMBER_AT + 6);
    this.#bytes.writeUInt32LE(crc32(this.#bytes.subarray(NUMBER_AT, at)), SUM_AT);
    const end = wholeSectors(at);
    this.#bytes.fill(0, at, end);
    return this.#bytes.subarray(0, end);
  }

  #makeRoom(at: number, bytes: number): void {
    const needed = wholeSectors(at + bytes);
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, at);
    this.#bytes = larger;
  }
}

/**
 * Every intact record in the file. A file is overwritten from its beginning, so records of earlier rounds follow, and
 * pieces of them between the others.
 */
export function* recordsIn(file: Buffer, salt: Buffer): Iterable<JournalRecord> {
  for (let at = 0; at + BODY_AT <= file.length; ) {
    const end = endOfRecord(file, at, salt);
    if (end === undefined) {
      at += SECTOR_BYTES;
      continue;
    }
    yield { number: file.readUIntLE(at + NUMBER_AT, 6), changes: changesIn(file.subarray(at + BODY_AT, end)) };
    at = wholeSectors(end);
  }
}

/** `undefined`: no intact record begins there. */
function endOfRecord(file: Buffer, at: number, salt: Buffer): number | undefined {
  if (file.compare(salt, 0, SALT_BYTES, at, at + SALT_BYTES) !== 0) return undefined;
  const end = at + BODY_AT + file.readUInt32LE(at + LENGTH_AT);
  if (end > file.length) return undefined;
  return crc32(file.subarray(at + NUMBER_AT, end)) === file.readUInt32LE(at + SUM_AT) ? end : undefined;
}

function changesIn(body: Buffer): (readonly [Buffer, Buffer | null])[] {
  const changes: (readonly [Buffer, Buffer | null])[] = [];
  for (let at = 0; at < body.length; ) {
    const keyAt = at + ENTRY_HEADER_BYTES;
    const recordAt = keyAt + body.readUInt16LE(at);
    const length = body.readUInt32LE(at + 2);
    at = length === REMOVED ? recordAt : recordAt + length;
    changes.push([body.subarray(keyAt, recordAt), length === REMOVED ? null : body.subarray(recordAt, at)]);
  }
  return changes;
}

function wholeSectors(bytes: number): number {
  return Math.ceil(bytes / SECTOR_BYTES) * SECTOR_BYTES;
}
