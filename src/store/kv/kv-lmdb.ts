// A store in a directory. The only file that knows lmdb.
//
// Settings are those of D1 and D6: every transaction is on disk when it returns, nothing is cached, and the address
// space is large enough that the map never has to grow. `transactionSync` is used because it is durable when it
// returns, and has 1.3 to 1.4 times the rate of `put` and `flushed` at 1 to 256 writes a transaction
// (native-bench/bare-lmdb.ts). Nothing is ever pending in the library: its thread can end between two transactions.

import type { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import type { RootDatabase } from 'lmdb';
import { wholeStep } from '../../effects/threads/whole-steps.ts';
import { asBuffer } from './kept-bytes.ts';
import { type Kv, type KvEntry, type KvReader, type KvStore, type RangeOptions, StoreFull } from './kv.ts';
import { copyOfRecord, openRecord, sealRecord, writtenMsOf } from './record.ts';

/** Its CommonJS build is one file: the thread is ready 50 ms sooner and takes 5 MiB less than with 20 ES modules. */
const { open }: typeof import('lmdb') = createRequire(import.meta.url)('lmdb');

const GIB = 1024 ** 3;
/** Address space, not memory (D6). */
export const MAP_BYTES = 64 * GIB;

/** The library's limit with pages of 4 KiB. */
export const KEY_BYTES_MAX = 1_978;

export interface LmdbOptions {
  readonly folder: string;
  readonly mapBytes?: number;
}

export class LmdbStore implements KvStore {
  readonly #db: RootDatabase<Buffer, Buffer>;
  readonly #map: LmdbMap;

  constructor({ folder, mapBytes = MAP_BYTES }: LmdbOptions) {
    const options = {
      path: folder,
      noSubdir: false,
      mapSize: mapBytes,
      overlappingSync: false,
      encoding: 'binary' as const,
      keyEncoding: 'binary' as const,
      cache: false,
      // Known to the library, missing in its types.
      permissionsMode: 0o600,
    };
    this.#db = open<Buffer, Buffer>(options);
    this.#map = new LmdbMap(this.#db);
  }

  read<T>(work: (kv: DiskReader) => T): T {
    this.#db.resetReadTxn();
    try {
      return work(this.#map);
    } finally {
      // The library would keep the snapshot until its timer runs, and this thread may block before that (D5).
      this.#db.resetReadTxn();
    }
  }

  write<T>(work: (kv: DiskKv) => T): T {
    try {
      return wholeStep(() => this.#db.transactionSync(() => work(this.#map)));
    } catch (error) {
      throw isMapFull(error) ? new StoreFull('the map of the store is full') : error;
    }
  }

  /** Removes the slots of readers that died, which would prevent the reuse of pages (D5). */
  clearStaleReaders(): number {
    return this.#db.readerCheck();
  }

  /** The library's own copy of one committed moment, into an existing folder (D8). Writes may continue meanwhile. */
  async copyTo(folder: string): Promise<void> {
    await this.#db.backup(folder, true);
  }

  close(): void {
    // Nothing is pending, so the promise does not wait: the environment is closed when this returns.
    void this.#db.close();
  }
}

/** With what the journal needs: it holds records as they lie on the disk. */
export interface DiskKv extends Kv, DiskReader {
  putRecord(key: Uint8Array, record: Buffer): void;
}

export interface DiskReader extends KvReader {
  /** As `range`, with each record as it lies on the disk in place of its value: unchecked, since it may be hidden. */
  records(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<KvEntry>;
  /** Does not read the record. */
  has(key: Uint8Array): boolean;
}

class LmdbMap implements DiskKv {
  readonly #db: RootDatabase<Buffer, Buffer>;

  constructor(db: RootDatabase<Buffer, Buffer>) {
    this.#db = db;
  }

  get(key: Uint8Array): Buffer | undefined {
    // The library's own copy, `getBinary`, costs four times as much as this one, because it allocates each time.
    const record = this.#db.getBinaryFast(asBuffer(key));
    // Beyond 16 MiB it returns a plain Uint8Array, although its types say otherwise.
    return record === undefined ? undefined : copyOfRecord(key, asBuffer(record));
  }

  raw(key: Uint8Array): Buffer | undefined {
    // A buffer of its own. This is rare, and unlike the fast one its length is exact.
    return this.#db.getBinary(asBuffer(key));
  }

  *range(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<KvEntry> {
    for (const { key, value } of this.records(start, end, options)) {
      yield { key, value: openRecord(key, value), writtenMs: writtenMsOf(value) };
    }
  }

  records(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<{ key: Buffer; value: Buffer }> {
    return this.#db.getRange(rangeOptions(start, end, options));
  }

  keys(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<Uint8Array> {
    return this.#db.getKeys(rangeOptions(start, end, options));
  }

  put(key: Uint8Array, value: Uint8Array, writtenMs?: number): void {
    this.putRecord(key, sealRecord(key, value, writtenMs));
  }

  putRecord(key: Uint8Array, record: Buffer): void {
    this.#db.putSync(asBuffer(key), record);
  }

  has(key: Uint8Array): boolean {
    return this.#db.doesExist(asBuffer(key));
  }

  remove(key: Uint8Array): boolean {
    return this.#db.removeSync(asBuffer(key));
  }
}

function rangeOptions(start: Uint8Array, end: Uint8Array, { limit, offset, isReverse = false }: RangeOptions) {
  return {
    ...(isReverse
      ? { start: asBuffer(end), exclusiveStart: true, end: asBuffer(start), inclusiveEnd: true, reverse: true }
      : { start: asBuffer(start), end: asBuffer(end) }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
  };
}

/** MDB_MAP_FULL of lmdb.h. */
const MAP_FULL = -30792;

function isMapFull(error: unknown): boolean {
  return error instanceof Error && ('code' in error ? error.code === MAP_FULL : error.message.includes('MDB_MAP_FULL'));
}
