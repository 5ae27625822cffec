// The interface through which commands use every store of this machine: an ordered map of byte strings.
//
// Neighbours: `kv-lmdb.ts` and `kv-memory.ts` are such maps; the commands of a module (`state/`, `stream/`) are pure
// functions over one. Keys sort by their bytes. See `keys.ts` for the owners of keys.
//
// Invariants:
//   - Everything here is synchronous: code that holds a map owns the store's thread, so no two commands interleave.
//   - Values of `get` and `range` are valid until the surrounding `read` or `write` returns. Keep a copy, not the view.

export interface KvReader {
  get(key: Uint8Array): Uint8Array | undefined;
  /** The record as stored, unchecked: for setting a damaged one aside, never for use. */
  raw(key: Uint8Array): Uint8Array | undefined;
  /** Ascending from `start` (included) to `end` (excluded); with `isReverse`, the same entries in reverse order. */
  range(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<KvEntry>;
  /** Only the keys of the same range: values are neither read nor checked, however large they are. */
  keys(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<Uint8Array>;
}

export interface Kv extends KvReader {
  /** `writtenMs`: the time of day, for listings of entries with it. */
  put(key: Uint8Array, value: Uint8Array, writtenMs?: number): void;
  /** Returns whether there was one. */
  remove(key: Uint8Array): boolean;
}

export interface RangeOptions {
  readonly limit?: number;
  /** Entries to skip first. */
  readonly offset?: number;
  readonly isReverse?: boolean;
}

export interface KvEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** The time that was given with `put`. */
  readonly writtenMs?: number | undefined;
}

/** A whole store. */
export interface KvStore {
  /** Reads what is committed. */
  read<T>(work: (kv: KvReader) => T): T;
  /** One transaction: durable when this returns. If it throws, nothing has changed. */
  write<T>(work: (kv: Kv) => T): T;
  close(): void;
}

/** The store has no room: the transaction was not made, and the store is unchanged. */
export class StoreFull extends Error {}
