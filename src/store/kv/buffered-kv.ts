// The map as one command sees it: the store, overlaid with the changes of the command. Nothing reaches the store before
// `apply`, so a command that throws changes nothing (contract of `StoreCommand`).

import { byteText } from './kept-bytes.ts';
import type { Kv, KvEntry, RangeOptions } from './kv.ts';
import { bare, type Change, merged, sliced } from './merge.ts';
import { DamagedRecord } from './record.ts';

/** Most commands change one or two keys: searching so few is cheaper than converting keys to text. */
const FEW = 8;

export class BufferedKv implements Kv {
  readonly #below: Kv;
  /** In the order of the first change of each key. */
  readonly #changes: Change[] = [];
  /** Indexes into `#changes` by the key's bytes as text of one character a byte; only while there are many changes. */
  #indexes: Map<string, number> | undefined;

  constructor(below: Kv) {
    this.#below = below;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const change = this.#changes[this.#find(key)];
    return change === undefined ? this.#below.get(key) : change.value;
  }

  raw(key: Uint8Array): Uint8Array | undefined {
    const change = this.#changes[this.#find(key)];
    return change === undefined ? this.#below.raw(key) : change.value;
  }

  put(key: Uint8Array, value: Uint8Array, writtenMs?: number): void {
    this.#note({ key, value, writtenMs });
  }

  remove(key: Uint8Array): boolean {
    const isThere = this.#isThere(key);
    this.#note({ key, value: undefined });
    return isThere;
  }

  /** A damaged record counts as present: it can be removed without being read. */
  #isThere(key: Uint8Array): boolean {
    try {
      return this.get(key) !== undefined;
    } catch (error) {
      if (error instanceof DamagedRecord) return true;
      throw error;
    }
  }

  range(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<KvEntry> {
    if (this.#changes.length === 0) return this.#below.range(start, end, options);
    const { isReverse = false } = options;
    const below = this.#below.range(start, end, { isReverse });
    return sliced(merged(below, this.#changesWithin(start, end, isReverse), isReverse), options);
  }

  *keys(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<Uint8Array> {
    if (this.#changes.length === 0) return yield* this.#below.keys(start, end, options);
    const { isReverse = false } = options;
    const below = bare(this.#below.keys(start, end, { isReverse }));
    const entries = merged(below, this.#changesWithin(start, end, isReverse), isReverse);
    for (const { key } of sliced(entries, options)) yield key;
  }

  apply(): void {
    for (const { key, value, writtenMs } of this.#changes) {
      if (value === undefined) this.#below.remove(key);
      else this.#below.put(key, value, writtenMs);
    }
    this.discard();
  }

  discard(): void {
    this.#changes.length = 0;
    this.#indexes = undefined;
  }

  #note(change: Change): void {
    const at = this.#find(change.key);
    if (at >= 0) {
      this.#changes[at] = change;
      return;
    }
    const count = this.#changes.push(change);
    if (this.#indexes !== undefined) this.#indexes.set(byteText(change.key), count - 1);
    else if (count > FEW) this.#indexes = new Map(this.#changes.map(({ key }, index) => [byteText(key), index]));
  }

  /** -1: the command has not changed it. */
  #find(key: Uint8Array): number {
    if (this.#indexes !== undefined) return this.#indexes.get(byteText(key)) ?? -1;
    for (let at = this.#changes.length - 1; at >= 0; at--) {
      const change = this.#changes[at];
      if (change !== undefined && isSame(change.key, key)) return at;
    }
    return -1;
  }

  #changesWithin(start: Uint8Array, end: Uint8Array, isReverse: boolean): Change[] {
    const direction = isReverse ? -1 : 1;
    return this.#changes
      .filter(({ key }) => Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0)
      .sort((one, other) => direction * Buffer.compare(one.key, other.key));
  }
}

/** Compares from the end, because keys of one owner begin alike. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = one.length - 1; at >= 0; at--) if (one[at] !== other[at]) return false;
  return true;
}
