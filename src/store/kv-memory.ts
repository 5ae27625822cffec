// A store that ends with the engine: for `store_method: in_memory`.

import BTreeModule from 'sorted-btree';
import type { Kv, KvEntry, KvReader, KvStore, RangeOptions } from './kv.ts';

// The package is CommonJS: its class is the default of its default.
const { default: BTree } = BTreeModule;

/** Keys as strings of one character a byte, which order as the bytes do. */
type Entries = InstanceType<typeof BTree<string, Buffer>>;

export class MemoryStore implements KvStore {
  readonly #map = new MemoryKv();

  read<T>(work: (kv: KvReader) => T): T {
    return work(this.#map);
  }

  /** Writes as they come: what may fail has failed before, and nothing here can. */
  write<T>(work: (kv: Kv) => T): T {
    return work(this.#map);
  }

  close(): void {
    this.#map.clear();
  }
}

export class MemoryKv implements Kv {
  readonly #entries: Entries = new BTree<string, Buffer>(undefined, compare);

  clear(): void {
    this.#entries.clear();
  }

  get(key: Uint8Array): Buffer | undefined {
    return this.#entries.get(keyText(key));
  }

  *range(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<KvEntry> {
    const { limit = Number.POSITIVE_INFINITY, offset = 0, isReverse = false } = options;
    const first = keyText(start);
    const behind = keyText(end);
    const entries = isReverse ? this.#entries.entriesReversed(behind, undefined, true) : this.#entries.entries(first);
    let index = -offset;
    for (const [key, value] of entries) {
      if (index >= limit || (isReverse ? key < first : key >= behind)) return;
      if (index++ >= 0) yield { key: Buffer.from(key, 'latin1'), value };
    }
  }

  put(key: Uint8Array, value: Uint8Array): void {
    // The value is a view of a batch that others share.
    this.#entries.set(keyText(key), Buffer.from(value));
  }

  remove(key: Uint8Array): boolean {
    return this.#entries.delete(keyText(key));
  }
}

function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
