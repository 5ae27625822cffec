// Changes that are not in the tree yet, by key. In memory; the newest change of a key replaces the one before.

import { Buffer } from 'node:buffer';
import BTreeModule from 'sorted-btree';
import { bufferOf, byteText, type KeptBytes } from '../kv/kept-bytes.ts';
import type { Change } from '../kv/merge.ts';

// The package is CommonJS: its class is the default of its default.
const { default: BTree } = BTreeModule;

/** A record as it lies on the disk; `null`: the key was removed. */
export type Changed = KeptBytes | null;

/** The keys that begin with the same two bytes: those of one kind of record (`../kv/keys.ts`). */
interface Kind {
  /** `undefined` until they are read in order. Most kinds never are. */
  order: InstanceType<typeof BTree<string, undefined>> | undefined;
  /** Not in `order` yet. Deleted keys stay in it. */
  added: string[];
  removals: number;
}

export const KIND_BYTES = 2;

export class ChangeSet {
  readonly #records = new Map<string, Changed>();
  readonly #kinds = new Map<string, Kind>();
  #bytes = 0;
  #removals = 0;

  /** Of all keys and records that were set, those that were replaced included. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#records.size;
  }

  /** How many keys of kinds that are read in order were set to `null`, those that were replaced included. */
  get removals(): number {
    return this.#removals;
  }

  /** `undefined`: not changed. `key` has one character a byte. */
  get(key: string): Changed | undefined {
    return this.#records.get(key);
  }

  set(key: string, record: Changed): void {
    const before = this.#records.size;
    this.#bytes += key.length + (record?.length ?? 0);
    this.#records.set(key, record);
    const isNew = this.#records.size > before;
    if (!isNew && record !== null) return;
    const kind = this.#kindOf(key);
    if (isNew) kind.added.push(key);
    if (record !== null) return;
    kind.removals++;
    if (kind.order !== undefined) this.#removals++;
  }

  delete(key: string): void {
    this.#records.delete(key);
    this.#kinds.get(key.slice(0, KIND_BYTES))?.order?.delete(key);
  }

  /** In the order of the first change of each key. */
  entries(): Iterable<[string, Changed]> {
    return this.#records;
  }

  sortedKeys(): readonly string[] {
    return [...this.#records.keys()].sort(compare);
  }

  /** In key order, or the reverse; values are records. `undefined`: there is none. */
  within(start: Uint8Array, end: Uint8Array, isReverse: boolean): Iterable<Change> | undefined {
    if (this.#records.size === 0) return undefined;
    const [first, stop] = [byteText(start), byteText(end)];
    const prefix = first.slice(0, KIND_BYTES);
    const order = prefix.length === KIND_BYTES && stop.startsWith(prefix) ? this.#orderOf(prefix) : this.#orderOfAll();
    const lowest = order?.getPairOrNextHigher(first)?.[0];
    if (order === undefined || lowest === undefined || lowest >= stop) return undefined;
    return this.#changes(isReverse ? order.entriesReversed(stop, undefined, true) : order.entries(first), first, stop);
  }

  #kindOf(key: string): Kind {
    const prefix = key.slice(0, KIND_BYTES);
    const known = this.#kinds.get(prefix);
    if (known !== undefined) return known;
    const kind: Kind = { order: undefined, added: [], removals: 0 };
    this.#kinds.set(prefix, kind);
    return kind;
  }

  #orderOf(prefix: string): Kind['order'] {
    const kind = this.#kinds.get(prefix);
    if (kind === undefined) return undefined;
    if (kind.order === undefined) {
      kind.order = new BTree<string, undefined>(undefined, compare);
      this.#removals += kind.removals;
    }
    for (const key of kind.added) if (this.#records.has(key)) kind.order.set(key, undefined);
    kind.added = [];
    return kind.order;
  }

  /** For rare reads across kinds. */
  #orderOfAll(): Kind['order'] {
    return new BTree<string, undefined>(
      [...this.#records.keys()].map((key) => [key, undefined]),
      compare,
    );
  }

  /** Up to the first key outside of the range. */
  *#changes(keys: Iterable<[string, undefined]>, first: string, stop: string): Iterable<Change> {
    for (const [key] of keys) {
      if (key < first || key >= stop) return;
      const record = this.#records.get(key);
      if (record !== undefined)
        yield { key: Buffer.from(key, 'latin1'), value: record === null ? undefined : bufferOf(record) };
    }
  }
}

/** A sort takes half the time with it. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
