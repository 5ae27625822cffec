// Checks every page and every record of a store before the library maps it (R5): lmdb has no checksums, and a page that
// is torn, zeroed or flipped makes it lose entries silently, or crashes the process.
//
// An intact file has these properties: pages know their own number and are no newer than the head; every page is either
// reached once or free; a tree has as many pages and entries as the head says; keys ascend from the first leaf to the
// last and fit the separators in the branches; every record fits its checksum.

import { crc32 } from 'node:zlib';
import {
  DamagedFile,
  LmdbFile,
  type Meta,
  NODE_HEADER_BYTES,
  NODE_IS_BIG,
  numberAt,
  PAGE_FLAG,
  PAGE_HEADER_BYTES,
  readMeta,
  type TreeSummary,
} from './lmdb-file.ts';
import { isKnownVersion, RECORD_OVERHEAD_BYTES } from './record.ts';

export interface CheckedStore {
  /** The last transaction in the file. */
  readonly transaction: number;
  readonly pages: number;
  readonly entries: number;
}

/**
 * Throws `DamagedFile` with the first problem. A million entries of 200 bytes take about a second. `isCopy`: the
 * library made it, and nothing was written to it since. Without `checksRecords` only the structures of the library are
 * checked: for stores whose owner can skip a damaged record.
 */
export function checkStoreFile(path: string, { isCopy = false, checksRecords = true } = {}): CheckedStore {
  const file = new LmdbFile(path);
  try {
    const meta = readMeta(file, isCopy);
    if (meta.lastPage * meta.pageBytes > PAGES_MAX * meta.pageBytes)
      throw new DamagedFile('its number of pages is impossible');
    file.warm();
    const check = new StoreCheck(file, meta);
    check.walkEntries(checksRecords ? checkRecord : () => {});
    check.walkFreePages();
    return { transaction: meta.transaction, pages: meta.lastPage + 1, entries: meta.entries.entries };
  } finally {
    file.close();
  }
}

/** 16 TiB of pages of 4 KiB. */
const PAGES_MAX = 2 ** 32;
const DEPTH_MAX = 32;
/** The field of a node for it has 16 bits. */
const KEY_BYTES_MAX = 65_535;

interface Counts {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
}

/**
 * An entry within its leaf: the key from `keyAt`, the data from there to `end`. `apart`: the data, where they have
 * pages of their own. Valid until it returns.
 */
type VisitEntry = (leaf: Buffer, keyAt: number, dataAt: number, end: number, apart: Buffer | undefined) => void;

class StoreCheck {
  readonly #file: LmdbFile;
  readonly #meta: Meta;
  /** One bit for each page: reached from a root. */
  readonly #reached: Uint8Array;
  /** A buffer for each level, so that a branch is still there when its first child has been walked. */
  readonly #levels: Buffer[] = [];
  #counts: Counts = noCounts();
  /** The free pages are ordered by numbers, and come after the entries. */
  #isOrderedByBytes = true;
  readonly #lastKeyBytes = Buffer.allocUnsafe(KEY_BYTES_MAX);
  #lastKey: Buffer = Buffer.alloc(0);
  #leastKey: Buffer = Buffer.alloc(0);
  /** The previous key in the leaf that is walked; an end of 0: there is none. */
  #previousAt = 0;
  #previousEnd = 0;

  constructor(file: LmdbFile, meta: Meta) {
    this.#file = file;
    this.#meta = meta;
    this.#reached = new Uint8Array((meta.lastPage >>> 3) + 1);
    this.#reach(0, 2);
  }

  walkEntries(visit: VisitEntry): void {
    this.#walk(this.#meta.entries, visit);
  }

  /** Compares the first key of a leaf with the last one before it, and the others with their neighbours. */
  #checkOrder(leaf: Buffer, start: number, end: number): void {
    const isInOrder =
      this.#previousEnd > 0
        ? leaf.compare(leaf, start, end, this.#previousAt, this.#previousEnd) < 0
        : this.#lastKey.compare(leaf, start, end) < 0 && this.#leastKey.compare(leaf, start, end) <= 0;
    if (!isInOrder) throw new DamagedFile('its keys are out of order');
    this.#previousAt = start;
    this.#previousEnd = end;
  }

  /** Pages are read into the same buffers again and again. */
  #keepLastKey(leaf: Buffer): void {
    leaf.copy(this.#lastKeyBytes, 0, this.#previousAt, this.#previousEnd);
    this.#lastKey = this.#lastKeyBytes.subarray(0, this.#previousEnd - this.#previousAt);
    this.#previousEnd = 0;
  }

  /** Checks a separator: the keys before it are smaller, and those after it are not. */
  #passSignpost(signpost: Buffer): void {
    if (!this.#isOrderedByBytes) return;
    if (Buffer.compare(this.#lastKey, signpost) >= 0) throw new DamagedFile('a branch leads to the wrong place');
    this.#leastKey = Buffer.from(signpost);
  }

  walkFreePages(): void {
    this.#isOrderedByBytes = false;
    this.#walk(this.#meta.freePages, (leaf, _keyAt, dataAt, end, apart) =>
      this.#checkFreeList(apart ?? leaf.subarray(dataAt, end)),
    );
  }

  #walk(tree: TreeSummary, visit: VisitEntry): void {
    this.#counts = noCounts();
    if (tree.root !== undefined) this.#walkPage(tree.root, tree.depth, visit);
    const { branchPages, leafPages, overflowPages, entries } = this.#counts;
    if (
      branchPages !== tree.branchPages ||
      leafPages !== tree.leafPages ||
      overflowPages !== tree.overflowPages ||
      entries !== tree.entries
    ) {
      throw new DamagedFile(`it holds ${entries} entries where its head says ${tree.entries}, or other pages`);
    }
  }

  /** `levels`: how many there are from this page down. */
  #walkPage(number: number, levels: number, visit: VisitEntry): void {
    if (levels < 1 || levels > DEPTH_MAX) throw new DamagedFile(`page ${number} lies deeper than its head says`);
    const page = this.#readPage(number, levels);
    const isLeaf = levels === 1;
    if (page.readUInt16LE(18) !== (isLeaf ? PAGE_FLAG.leaf : PAGE_FLAG.branch)) {
      throw new DamagedFile(`page ${number} is of the wrong kind`);
    }
    const nodes = page.readUInt16LE(20) >>> 1;
    if (nodes === 0 || PAGE_HEADER_BYTES + 2 * nodes > page.length) throw new DamagedFile(`page ${number} is torn`);
    if (isLeaf) this.#walkLeaf(page, number, nodes, visit);
    else this.#walkBranch(page, number, nodes, levels, visit);
  }

  #walkBranch(page: Buffer, number: number, nodes: number, levels: number, visit: VisitEntry): void {
    this.#counts.branchPages++;
    for (let index = 0; index < nodes; index++) {
      const at = nodeAt(page, number, index);
      const keyBytes = page.readUInt16LE(at + 6);
      if (at + NODE_HEADER_BYTES + keyBytes > page.length) throw new DamagedFile(`page ${number} is torn`);
      const child = page.readUInt32LE(at) + page.readUInt16LE(at + 4) * 0x1_0000_0000;
      // The first child has no separator: it holds all keys before the second.
      if (index > 0) this.#passSignpost(page.subarray(at + NODE_HEADER_BYTES, at + NODE_HEADER_BYTES + keyBytes));
      this.#walkPage(child, levels - 1, visit);
    }
  }

  #walkLeaf(page: Buffer, number: number, nodes: number, visit: VisitEntry): void {
    this.#counts.leafPages++;
    for (let index = 0; index < nodes; index++) {
      const at = nodeAt(page, number, index);
      const dataBytes = page.readUInt32LE(at);
      const keyBytes = page.readUInt16LE(at + 6);
      const flags = page.readUInt16LE(at + 4);
      // The library would take the value for a tree of its own.
      if ((flags & ~NODE_IS_BIG) !== 0) throw new DamagedFile(`page ${number} has an entry of another kind`);
      const isBig = flags === NODE_IS_BIG;
      const keyAt = at + NODE_HEADER_BYTES;
      const dataAt = keyAt + keyBytes;
      if (dataAt + (isBig ? 8 : dataBytes) > page.length) throw new DamagedFile(`page ${number} is torn`);
      const apart = isBig ? this.#readOverflow(numberAt(page, dataAt), dataBytes) : undefined;
      this.#counts.entries++;
      if (this.#isOrderedByBytes) this.#checkOrder(page, keyAt, dataAt);
      visit(page, keyAt, dataAt, dataAt + (isBig ? 8 : dataBytes), apart);
    }
    if (this.#isOrderedByBytes) this.#keepLastKey(page);
  }

  #readPage(number: number, level: number): Buffer {
    const page = this.#levels[level] ?? Buffer.allocUnsafe(this.#meta.pageBytes);
    this.#levels[level] = page;
    this.#reach(number, 1);
    this.#file.read(page, number * this.#meta.pageBytes);
    this.#checkHeader(page, number);
    return page;
  }

  #readOverflow(number: number, bytes: number): Buffer {
    const { pageBytes } = this.#meta;
    const value = Buffer.allocUnsafe(PAGE_HEADER_BYTES + bytes);
    if (number > this.#meta.lastPage) throw new DamagedFile(`page ${number} lies after the last one`);
    this.#file.read(value, number * pageBytes);
    this.#checkHeader(value, number);
    if (value.readUInt16LE(18) !== PAGE_FLAG.overflow) throw new DamagedFile(`page ${number} is of the wrong kind`);
    // A value that was overwritten by a shorter one keeps its pages.
    const pages = value.readUInt32LE(20);
    if (pages * pageBytes < value.length) throw new DamagedFile(`page ${number} has too few pages after it`);
    this.#reach(number, pages);
    this.#counts.overflowPages += pages;
    return value.subarray(PAGE_HEADER_BYTES);
  }

  #checkHeader(page: Buffer, number: number): void {
    if (numberAt(page, 0) !== number) throw new DamagedFile(`page ${number} says it is another one`);
    if (numberAt(page, 8) > this.#meta.transaction) throw new DamagedFile(`page ${number} is newer than its head`);
  }

  /** Marks pages as reached. Each page belongs to one place only. */
  #reach(first: number, pages: number): void {
    if (first + pages - 1 > this.#meta.lastPage) throw new DamagedFile(`page ${first} lies after the last one`);
    for (let page = first; page < first + pages; page++) {
      if (this.#isReached(page)) throw new DamagedFile(`page ${page} is in use twice`);
      this.#reached[page >>> 3] = (this.#reached[page >>> 3] ?? 0) | (1 << (page & 7));
    }
  }

  #isReached(page: number): boolean {
    return ((this.#reached[page >>> 3] ?? 0) & (1 << (page & 7))) !== 0;
  }

  /** A list of pages: their count, and then numbers; 0 is a gap, -n means n pages from the next number on. */
  #checkFreeList(data: Buffer): void {
    const length = Math.min(numberAt(data, 0), (data.length >>> 3) - 1);
    for (let index = 1; index <= length; index++) {
      const entry = Number(data.readBigInt64LE(8 * index));
      if (entry === 0) continue;
      const pages = entry < 0 ? -entry : 1;
      const first = entry < 0 && index < length ? numberAt(data, 8 * ++index) : entry;
      this.#checkFree(first, pages);
    }
  }

  #checkFree(first: number, pages: number): void {
    if (first < 2 || first + pages - 1 > this.#meta.lastPage)
      throw new DamagedFile(`free page ${first} does not exist`);
    for (let page = first; page < first + pages; page++) {
      if (this.#isReached(page)) throw new DamagedFile(`page ${page} is in use and free`);
    }
  }
}

/** In a leaf the data directly follow their key, in the order of the checksum (`record.ts`): one call covers both. */
function checkRecord(leaf: Buffer, keyAt: number, dataAt: number, end: number, apart: Buffer | undefined): void {
  const record = apart ?? leaf;
  const sumAt = (apart?.length ?? end) - RECORD_OVERHEAD_BYTES;
  const isValid =
    sumAt >= (apart === undefined ? dataAt : 0) &&
    isKnownVersion(record[sumAt + 4]) &&
    record.readUInt32LE(sumAt) ===
      (apart === undefined
        ? crc32(leaf.subarray(keyAt, sumAt))
        : crc32(apart.subarray(0, sumAt), crc32(leaf.subarray(keyAt, dataAt))));
  if (!isValid) throw new DamagedFile('a record fails its checksum');
}

function nodeAt(page: Buffer, number: number, index: number): number {
  const at = PAGE_HEADER_BYTES + page.readUInt16LE(PAGE_HEADER_BYTES + 2 * index);
  if (at + NODE_HEADER_BYTES > page.length) throw new DamagedFile(`page ${number} is torn`);
  return at;
}

function noCounts(): Counts {
  return { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
}
