// The layout of lmdb's data file (data format 2, 64 bits, little-endian), as far as the check of a store needs it. See
// MDB_meta, MDB_page_header, MDB_node in the library's mdb.c.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

export const PAGE_HEADER_BYTES = 24;
export const PAGE_FLAG = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;
export const NODE_HEADER_BYTES = 8;
export const NODE_IS_BIG = 1;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const MAGIC = 0xbeefc0de;
const DATA_FORMAT = 2;

/** The file is not what lmdb wrote. The message says why. */
export class DamagedFile extends Error {}

/** One tree: the free pages, or the entries. */
export interface TreeSummary {
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** `undefined`: empty. */
  readonly root: number | undefined;
}

export interface Meta {
  readonly pageBytes: number;
  readonly freePages: TreeSummary;
  readonly entries: TreeSummary;
  readonly lastPage: number;
  readonly transaction: number;
}

export class LmdbFile {
  readonly #descriptor: number;
  readonly bytes: number;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'r');
    this.bytes = fstatSync(this.#descriptor).size;
  }

  /** Fills the buffer from that offset. */
  read(target: Buffer, at: number): void {
    const length = readSync(this.#descriptor, target, 0, target.length, at);
    if (length < target.length) throw new DamagedFile(`the file ends at byte ${at + length}, in the middle of a page`);
  }

  /** Reads the file from end to end, in order, so that later random reads come from memory. */
  warm(): void {
    const block = Buffer.allocUnsafe(Math.min(WARM_BLOCK_BYTES, this.bytes));
    for (let at = 0; at < this.bytes; at += block.length) readSync(this.#descriptor, block, 0, block.length, at);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

const WARM_BLOCK_BYTES = 4 * 1024 * 1024;
const META_BYTES = 168;

/**
 * The newer of the two descriptions of the whole file, after a check of both. They are written in turn, so if their
 * numbers do not follow each other, one of them is not what was written. A copy has only the second.
 */
export function readMeta(file: LmdbFile, isCopy: boolean): Meta {
  const first = readOneMeta(file, 0, 0);
  const second = readOneMeta(file, first.pageBytes, 1);
  if (second.pageBytes !== first.pageBytes) throw new DamagedFile('its two heads have different page sizes');
  if (isCopy && first.transaction === 0 && second.transaction > 0) return second;
  const [older, newer] = second.transaction > first.transaction ? [first, second] : [second, first];
  const isFresh = newer.transaction === 0;
  if (
    !isFresh &&
    (newer.transaction - older.transaction !== 1 || newer.transaction % 2 !== (newer === second ? 1 : 0))
  ) {
    throw new DamagedFile('its two heads are not of consecutive transactions');
  }
  return newer;
}

/** For a file that no transaction changes any more. */
export function lastTransaction(path: string): number {
  const file = new LmdbFile(path);
  try {
    return readMeta(file, false).transaction;
  } finally {
    file.close();
  }
}

function readOneMeta(file: LmdbFile, at: number, number: number): Meta {
  const page = Buffer.allocUnsafe(META_BYTES);
  file.read(page, at);
  const which = `head ${number}`;
  if (page.readUInt32LE(24) !== MAGIC) throw new DamagedFile(`${which} is not one of lmdb`);
  if (page.readUInt32LE(28) !== DATA_FORMAT) throw new DamagedFile(`${which} is of another format of lmdb`);
  const isInPlace = page.readBigUInt64LE(0) === BigInt(number) && page.readUInt16LE(18) === PAGE_FLAG.meta;
  if (!isInPlace || page.readBigUInt64LE(32) !== 0n) throw new DamagedFile(`${which} is damaged`);
  const pageBytes = page.readUInt32LE(48);
  if (pageBytes < 256 || pageBytes > 65_536 || (pageBytes & (pageBytes - 1)) !== 0) {
    throw new DamagedFile(`${which} says that pages have ${pageBytes} bytes`);
  }
  // A store has one plain tree. With the mark of duplicates every read fails.
  if (page.readUInt16LE(100) !== 0) throw new DamagedFile(`${which} says that its entries are of another kind`);
  return {
    pageBytes,
    freePages: treeAt(page, 48),
    entries: treeAt(page, 96),
    lastPage: numberAt(page, 144),
    transaction: numberAt(page, 152),
  };
}

function treeAt(page: Buffer, at: number): TreeSummary {
  return {
    depth: page.readUInt16LE(at + 6),
    branchPages: numberAt(page, at + 8),
    leafPages: numberAt(page, at + 16),
    overflowPages: numberAt(page, at + 24),
    entries: numberAt(page, at + 32),
    root: page.readBigUInt64LE(at + 40) === NO_PAGE ? undefined : numberAt(page, at + 40),
  };
}

/** A 64-bit number; one that is too large for a disk can only be damage. */
export function numberAt(bytes: Buffer, at: number): number {
  const high = bytes.readUInt32LE(at + 4);
  if (high >= 0x20_0000) throw new DamagedFile('it holds a number that is too large');
  return high * 0x1_0000_0000 + bytes.readUInt32LE(at);
}
