// The journal of a store: two files, written in turn, each from its beginning. While one takes new records, the changes
// of the other are brought into the tree.
//
// Invariants:
//   - A record is on the disk when `append` returns.
//   - A file is overwritten only after the tree holds all its changes, durably.
//   - Numbers of records have no gap. The tree says up to which number it holds all changes (`journaled-store.ts`).

import { Buffer } from 'node:buffer';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DamagedFile } from '../kv/lmdb-file.ts';
import type { Changed } from './change-set.ts';
import { type JournalRecord, RecordWriter, recordsIn } from './journal-record.ts';

export const JOURNAL_FILES = ['journal-0', 'journal-1'] as const;
/** Overwriting costs less than growing the file with each record: no sync then waits for the size of the file. */
export const GROWTH_BYTES = 1024 * 1024;

interface JournalFile {
  readonly path: string;
  readonly descriptor: number;
  readonly inode: number;
  /** Bytes that exist. */
  bytes: number;
}

export class Journal {
  readonly #files: readonly JournalFile[];
  readonly #writer: RecordWriter;
  #current = 0;
  #at = 0;

  /** Creates the files. */
  constructor(folder: string, salt: Buffer) {
    this.#files = JOURNAL_FILES.map((name) => createFile(join(folder, name)));
    this.#writer = new RecordWriter(salt);
    syncFolder(folder);
  }

  /** Written to the current file. */
  get bytes(): number {
    return this.#at;
  }

  append(number: number, changes: Iterable<readonly [key: string, record: Changed]>): void {
    const record = this.#writer.write(number, changes);
    const file = this.#files[this.#current];
    if (file === undefined) throw new Error('A journal has two files');
    // Records in a file that no longer has its name would be lost with this process.
    if (statSync(file.path).ino !== file.inode) throw new Error(`${file.path} was replaced while the engine ran`);
    if (this.#at + record.length > file.bytes) grow(file, this.#at + record.length);
    try {
      writeAll(file.descriptor, record, this.#at);
      fdatasyncSync(file.descriptor);
    } catch (error) {
      // Otherwise the next start would find a change that was refused.
      writeAll(file.descriptor, Buffer.alloc(record.length), this.#at);
      throw error;
    }
    this.#at += record.length;
  }

  /** The next record begins the other file. */
  turn(): void {
    this.#current = 1 - this.#current;
    this.#at = 0;
  }

  /** `isEmpty`: the tree has all changes. */
  close(isEmpty: boolean): void {
    for (const { descriptor, path } of this.#files) {
      closeSync(descriptor);
      if (isEmpty) rmSync(path, { force: true });
    }
  }
}

export function hasJournal(folder: string): boolean {
  return JOURNAL_FILES.every((name) => existsSync(join(folder, name)));
}

/** The records after that number, in order. Throws `DamagedFile` if one is missing between others. */
export function readJournal(folder: string, salt: Buffer, after: number): JournalRecord[] {
  const found = new Map<number, JournalRecord>();
  for (const name of JOURNAL_FILES) {
    const path = join(folder, name);
    if (!existsSync(path)) continue;
    for (const record of recordsIn(readFileSync(path), salt))
      if (record.number > after) found.set(record.number, record);
  }
  const records = [...found.values()].sort((one, other) => one.number - other.number);
  for (const [index, { number }] of records.entries()) {
    // Only the last record can be cut short by a crash, and it was not acknowledged.
    if (number !== after + 1 + index) throw new DamagedFile(`record ${after + 1 + index} of its journal is damaged`);
  }
  return records;
}

/** Empty: the tree has all changes of the records in it. */
function createFile(path: string): JournalFile {
  const descriptor = openSync(path, 'w+', 0o600);
  return { path, descriptor, inode: statSync(path).ino, bytes: 0 };
}

function grow(file: JournalFile, needed: number): void {
  const bytes = Math.ceil(needed / GROWTH_BYTES) * GROWTH_BYTES;
  writeAll(file.descriptor, Buffer.alloc(bytes - file.bytes), file.bytes);
  file.bytes = bytes;
}

function writeAll(descriptor: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
}

/** The names of new files survive a crash from here on. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
