// A store that is lost when the engine ends: for `store_method: in_memory`.

import BTreeModule from 'sorted-btree';
import { bufferOf, byteText, type KeptBytes, keptBytes } from './kept-bytes.ts';
import type { Kv, KvEntry, KvReader, KvStore, RangeOptions } from './kv.ts';

// The package is CommonJS: its class is the default of its default.
const { default: BTree } = BTreeModule;

type StoredBytes = KeptBytes | TimedValue;

interface TimedValue {
  readonly bytes: KeptBytes;
  readonly writtenMs: number;
}

/** Keys as strings of one character a byte, which sort as the bytes do. */
type Entries = InstanceType<typeof BTree<string, StoredBytes>>;

export class MemoryStore implements KvStore {
  readonly #map = new MemoryKv();

  read<T>(work: (kv: KvReader) => T): T {
    return work(this.#map);
  }

  /** Writes directly: commands fail before this, and nothing here can fail. */
  write<T>(work: (kv: Kv) => T): T {
    return work(this.#map);
  }

  close(): void {
    this.#map.clear();
  }
}

export class MemoryKv implements Kv {
  readonly #entries: Entries = new BTree<string, StoredBytes>(undefined, compare);

  clear(): void {
    this.#entries.clear();
  }

  get(key: Uint8Array): Buffer | undefined {
    const stored = this.#entries.get(byteText(key));
    return stored === undefined ? undefined : bytesIn(stored);
  }

  raw(key: Uint8Array): Buffer | undefined {
    return this.get(key);
  }

  *range(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<KvEntry> {
    for (const [key, stored] of this.#within(start, end, options)) {
      yield { key: Buffer.from(key, 'latin1'), value: bytesIn(stored), writtenMs: writtenMsIn(stored) };
    }
  }

  *keys(start: Uint8Array, end: Uint8Array, options?: RangeOptions): Iterable<Buffer> {
    for (const [key] of this.#within(start, end, options)) yield Buffer.from(key, 'latin1');
  }

  *#within(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<[string, StoredBytes]> {
    const { limit = Number.POSITIVE_INFINITY, offset = 0, isReverse = false } = options;
    const first = byteText(start);
    const stop = byteText(end);
    const entries = isReverse ? this.#entries.entriesReversed(stop, undefined, true) : this.#entries.entries(first);
    let index = -offset;
    for (const entry of entries) {
      const [key] = entry;
      if (index >= limit || (isReverse ? key < first : key >= stop)) return;
      if (index++ >= 0) yield entry;
    }
  }

  put(key: Uint8Array, value: Uint8Array, writtenMs?: number): void {
    // The value is a view of a batch that other commands share.
    const bytes = keptBytes(value);
    this.#entries.set(byteText(key), writtenMs === undefined ? bytes : { bytes, writtenMs });
  }

  remove(key: Uint8Array): boolean {
    return this.#entries.delete(byteText(key));
  }
}

function bytesIn(stored: StoredBytes): Buffer {
  return bufferOf(isTimed(stored) ? stored.bytes : stored);
}

function writtenMsIn(stored: StoredBytes): number | undefined {
  return isTimed(stored) ? stored.writtenMs : undefined;
}

function isTimed(stored: StoredBytes): stored is TimedValue {
  return typeof stored !== 'string' && !Buffer.isBuffer(stored);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
