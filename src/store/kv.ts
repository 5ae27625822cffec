// The one shape in which every store of this machine is seen by the rules that use it: an ordered map of byte strings.
//
// Neighbours: `kv-lmdb.ts` and `kv-memory.ts` are such maps; the commands of a module (`state/`, `stream/`) are pure
// functions over one. Keys order by their bytes. See `keys.ts` for who owns which.
// Invariants:
//   V1  Everything here is synchronous: whoever holds a map owns the store's thread, so no two commands interleave.
//   V2  What `get` and `range` give is valid until the work they were asked in returns. Keep a copy, not the view.

export interface KvReader {
  get(key: Uint8Array): Uint8Array | undefined;
  /** The record as it lies there, unchecked: for moving a damaged one out of the way, never for use. */
  raw(key: Uint8Array): Uint8Array | undefined;
  /** Ascending from `start` (included) to `end` (excluded); with `isReverse`, the same entries, the last one first. */
  range(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<KvEntry>;
  /** The keys alone, in the same way: values are neither read nor checked, however large they are. */
  keys(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<Uint8Array>;
}

export interface Kv extends KvReader {
  /** `writtenMs`: the time of day, for those who list entries with it. */
  put(key: Uint8Array, value: Uint8Array, writtenMs?: number): void;
  /** Whether there was one. */
  remove(key: Uint8Array): boolean;
}

export interface RangeOptions {
  readonly limit?: number;
  /** Entries to pass over first. */
  readonly offset?: number;
  readonly isReverse?: boolean;
}

export interface KvEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Where it was given. */
  readonly writtenMs?: number | undefined;
}

/** A whole store. */
export interface KvStore {
  /** Sees what is committed. */
  read<T>(work: (kv: KvReader) => T): T;
  /** One transaction: durable when this returns, or nothing of it happened and this throws. */
  write<T>(work: (kv: Kv) => T): T;
  close(): void;
}

/** The store has no room: the transaction did not happen, and the store is as it was. */
export class StoreFull extends Error {}
