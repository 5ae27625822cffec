// The map as one command sees it: the store, overlaid with the changes of the command. Nothing reaches the store before
// `apply`, so a command that throws changes nothing (contract of `StoreCommand`).

import type { Kv, KvEntry, RangeOptions } from './kv.ts';
import { DamagedRecord } from './record.ts';

interface Change {
  readonly key: Uint8Array;
  /** `undefined`: removed. */
  readonly value: Uint8Array | undefined;
  readonly writtenMs?: number | undefined;
}

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
    return this.#merged(this.#below.range(start, end, { isReverse }), this.#changesWithin(start, end), options);
  }

  *keys(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<Uint8Array> {
    if (this.#changes.length === 0) return yield* this.#below.keys(start, end, options);
    const { isReverse = false } = options;
    const below = bare(this.#below.keys(start, end, { isReverse }));
    for (const { key } of this.#merged(below, this.#changesWithin(start, end), options)) yield key;
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
    if (this.#indexes !== undefined) this.#indexes.set(keyText(change.key), count - 1);
    else if (count > FEW) this.#indexes = new Map(this.#changes.map(({ key }, index) => [keyText(key), index]));
  }

  /** -1: the command has not changed it. */
  #find(key: Uint8Array): number {
    if (this.#indexes !== undefined) return this.#indexes.get(keyText(key)) ?? -1;
    for (let at = this.#changes.length - 1; at >= 0; at--) {
      const change = this.#changes[at];
      if (change !== undefined && isSame(change.key, key)) return at;
    }
    return -1;
  }

  /** Merges both in key order; of two entries with one key the command's own is used. */
  *#merged(below: Iterable<KvEntry>, changes: Change[], options: RangeOptions): Iterable<KvEntry> {
    const { limit = Number.POSITIVE_INFINITY, offset = 0, isReverse = false } = options;
    const direction = isReverse ? -1 : 1;
    const own = changes.sort((one, other) => direction * Buffer.compare(one.key, other.key));
    let index = -offset;
    for (const entry of merge(below, own, direction)) {
      if (index >= limit) return;
      if (index++ >= 0) yield entry;
    }
  }

  #changesWithin(start: Uint8Array, end: Uint8Array): Change[] {
    return this.#changes.filter(({ key }) => Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0);
  }
}

const NOTHING = Buffer.alloc(0);

function* bare(keys: Iterable<Uint8Array>): Iterable<KvEntry> {
  for (const key of keys) yield { key, value: NOTHING };
}

function* merge(below: Iterable<KvEntry>, own: readonly Change[], direction: number): Iterable<KvEntry> {
  let next = 0;
  for (const entry of below) {
    for (; next < own.length; next++) {
      const change = own[next];
      if (change === undefined || direction * Buffer.compare(change.key, entry.key) >= 0) break;
      yield* entryOf(change);
    }
    const change = own[next];
    if (change === undefined || Buffer.compare(change.key, entry.key) !== 0) {
      yield entry;
      continue;
    }
    next++;
    yield* entryOf(change);
  }
  for (const change of own.slice(next)) yield* entryOf(change);
}

function entryOf({ key, value, writtenMs }: Change): KvEntry[] {
  return value === undefined ? [] : [{ key, value, writtenMs }];
}

/** Compares from the end, because keys of one owner begin alike. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = one.length - 1; at >= 0; at--) if (one[at] !== other[at]) return false;
  return true;
}

function keyText(key: Uint8Array): string {
  const bytes = Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.length);
  return bytes.toString('latin1');
}
