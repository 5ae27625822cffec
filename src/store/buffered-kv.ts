// The map as one command sees it: the store, and over it what the command itself has put and removed. Nothing reaches
// the store before `apply`, so a command that throws leaves nothing of itself behind (contract of `StoreCommand`).

import type { Kv, KvEntry, RangeOptions } from './kv.ts';

interface Change {
  readonly key: Uint8Array;
  /** `undefined`: removed. */
  readonly value: Uint8Array | undefined;
}

export class BufferedKv implements Kv {
  readonly #below: Kv;
  /** By the key's bytes as text of one character a byte. */
  readonly #changes = new Map<string, Change>();

  constructor(below: Kv) {
    this.#below = below;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    if (this.#changes.size === 0) return this.#below.get(key);
    const change = this.#changes.get(keyText(key));
    return change === undefined ? this.#below.get(key) : change.value;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#changes.set(keyText(key), { key, value });
  }

  remove(key: Uint8Array): boolean {
    const isThere = this.get(key) !== undefined;
    this.#changes.set(keyText(key), { key, value: undefined });
    return isThere;
  }

  range(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<KvEntry> {
    if (this.#changes.size === 0) return this.#below.range(start, end, options);
    return this.#merged(start, end, options);
  }

  apply(): void {
    for (const { key, value } of this.#changes.values()) {
      if (value === undefined) this.#below.remove(key);
      else this.#below.put(key, value);
    }
    this.#changes.clear();
  }

  discard(): void {
    this.#changes.clear();
  }

  /** Both orders in step; of two entries with one key the command's own stands. */
  *#merged(start: Uint8Array, end: Uint8Array, options: RangeOptions): Iterable<KvEntry> {
    const { limit = Number.POSITIVE_INFINITY, offset = 0, isReverse = false } = options;
    const direction = isReverse ? -1 : 1;
    const own = this.#changesWithin(start, end).sort((one, other) => direction * Buffer.compare(one.key, other.key));
    let index = -offset;
    for (const entry of merge(this.#below.range(start, end, { isReverse }), own, direction)) {
      if (index >= limit) return;
      if (index++ >= 0) yield entry;
    }
  }

  #changesWithin(start: Uint8Array, end: Uint8Array): Change[] {
    return [...this.#changes.values()].filter(
      ({ key }) => Buffer.compare(key, start) >= 0 && Buffer.compare(key, end) < 0,
    );
  }
}

function* merge(below: Iterable<KvEntry>, own: readonly Change[], direction: number): Iterable<KvEntry> {
  let next = 0;
  for (const entry of below) {
    for (; next < own.length; next++) {
      const change = own[next];
      if (change === undefined || direction * Buffer.compare(change.key, entry.key) >= 0) break;
      if (change.value !== undefined) yield { key: change.key, value: change.value };
    }
    const change = own[next];
    if (change === undefined || Buffer.compare(change.key, entry.key) !== 0) {
      yield entry;
      continue;
    }
    next++;
    if (change.value !== undefined) yield { key: change.key, value: change.value };
  }
  for (const { key, value } of own.slice(next)) if (value !== undefined) yield { key, value };
}

function keyText(key: Uint8Array): string {
  const bytes = Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.length);
  return bytes.toString('latin1');
}
