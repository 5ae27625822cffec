// Changes that are not in the tree yet, by key. In memory; the newest change of a key replaces the one before.

import { Buffer } from 'node:buffer';
import { bufferOf, byteText, type KeptBytes } from '../kv/kept-bytes.ts';
import type { Change } from '../kv/merge.ts';
import { valueOfOwn, writtenMsOf } from '../kv/record.ts';

/** A record as it lies on the disk; `null`: the key was removed. */
export type Changed = KeptBytes | null;

export class ChangeSet {
  readonly #records = new Map<string, Changed>();
  /** In order. May hold keys that were deleted since, and the same key again in `#added`. */
  #sorted: string[] = [];
  /** Since they were sorted. */
  #added: string[] = [];

  #bytes = 0;

  /** Of all keys and records that were set, those that were replaced included. */
  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#records.size;
  }

  /** `undefined`: not changed. `key` has one character a byte. */
  get(key: string): Changed | undefined {
    return this.#records.get(key);
  }

  set(key: string, record: Changed): void {
    const before = this.#records.size;
    this.#bytes += key.length + (record?.length ?? 0);
    this.#records.set(key, record);
    if (this.#records.size > before) this.#added.push(key);
  }

  delete(key: string): void {
    this.#records.delete(key);
  }

  /** In the order of the first change of each key. */
  entries(): Iterable<[string, Changed]> {
    return this.#records;
  }

  sortedKeys(): readonly string[] {
    if (this.#added.length === 0) return this.#sorted;
    const added = this.#added.sort(compareKeys);
    this.#added = [];
    const last = this.#sorted.at(-1);
    if (last === undefined || last < (added[0] ?? '')) this.#sorted.push(...new Set(added));
    else this.#sorted = this.#mergedWith(added);
    return this.#sorted;
  }

  /** Leaves out deleted keys, and all but one of equal ones. */
  #mergedWith(added: readonly string[]): string[] {
    const all: string[] = [];
    const push = (key: string): void => {
      if (key !== all.at(-1) && this.#records.has(key)) all.push(key);
    };
    let at = 0;
    for (const key of this.#sorted) {
      for (let other = added[at]; other !== undefined && other < key; other = added[++at]) push(other);
      push(key);
    }
    for (const key of added.slice(at)) push(key);
    return all;
  }

  /** In key order, or the reverse. `undefined`: there is none. */
  within(start: Uint8Array, end: Uint8Array, isReverse: boolean): Iterable<Change> | undefined {
    const keys = this.sortedKeys();
    const from = placeOf(keys, byteText(start));
    const to = placeOf(keys, byteText(end));
    if (from >= to) return undefined;
    const found = keys.slice(from, to);
    return this.#changes(isReverse ? found.reverse() : found);
  }

  *#changes(keys: readonly string[]): Iterable<Change> {
    for (const key of keys) {
      const record = this.#records.get(key);
      if (record === undefined) continue;
      const bytes = Buffer.from(key, 'latin1');
      if (record === null) yield { key: bytes, value: undefined };
      else yield changeTo(bytes, bufferOf(record));
    }
  }
}

function changeTo(key: Buffer, record: Buffer): Change {
  return { key, value: valueOfOwn(record), writtenMs: writtenMsOf(record) };
}

/** Half the time of a sort without it. */
function compareKeys(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The index of the first key that is not before `key`. */
function placeOf(keys: readonly string[], key: string): number {
  let from = 0;
  let to = keys.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((keys[middle] ?? '') < key) from = middle + 1;
    else to = middle;
  }
  return from;
}
