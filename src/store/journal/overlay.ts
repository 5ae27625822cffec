// The map as a transaction sees it: the tree on the disk, the changes that are not in it yet, and its own changes.

import { Buffer } from 'node:buffer';
import { asBuffer, bufferOf, byteText, keptBytes } from '../kv/kept-bytes.ts';
import type { Kv, KvEntry, RangeOptions } from '../kv/kv.ts';
import { type DiskReader, KEY_BYTES_MAX } from '../kv/kv-lmdb.ts';
import { bare, type Change, merged, sliced } from '../kv/merge.ts';
import { openRecord, sealRecord, valueOfOwn, writtenMsOf } from '../kv/record.ts';
import type { Changed, ChangeSet } from './change-set.ts';
import type { Gaps } from './gaps.ts';

export class Overlay implements Kv {
  readonly #tree: DiskReader;
  /** The newest first. */
  readonly #layers: readonly ChangeSet[];
  readonly #own: ChangeSet;
  readonly #gaps: Gaps;

  /** `own` takes the changes; `layers`, newest first, lie between them and the tree. */
  constructor(tree: DiskReader, layers: readonly ChangeSet[], own: ChangeSet, gaps: Gaps) {
    this.#gaps = gaps;
    this.#tree = tree;
    this.#layers = [own, ...layers];
    this.#own = own;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    const changed = this.#changed(byteText(key));
    if (changed === undefined) return this.#tree.get(key);
    return changed === null ? undefined : valueOfOwn(bufferOf(changed));
  }

  raw(key: Uint8Array): Uint8Array | undefined {
    const changed = this.#changed(byteText(key));
    if (changed === undefined) return this.#tree.raw(key);
    return changed === null ? undefined : bufferOf(changed);
  }

  range(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<KvEntry> {
    const { isReverse = false } = options;
    const from = this.#afterGap(start, isReverse);
    const changes = this.#changesWithin(from, end, isReverse);
    if (changes.length === 0) return this.#tree.range(from, end, options);
    const records = over(this.#tree.records(from, end, { isReverse }), changes, isReverse);
    return opened(sliced(isReverse ? records : this.#noting(records, from, end), options));
  }

  *keys(start: Uint8Array, end: Uint8Array, options: RangeOptions = {}): Iterable<Uint8Array> {
    const { isReverse = false } = options;
    const from = this.#afterGap(start, isReverse);
    const changes = this.#changesWithin(from, end, isReverse);
    if (changes.length === 0) return yield* this.#tree.keys(from, end, options);
    const entries = over(bare(this.#tree.keys(from, end, { isReverse })), changes, isReverse);
    for (const { key } of sliced(isReverse ? entries : this.#noting(entries, from, end), options)) yield key;
  }

  #afterGap(start: Uint8Array, isReverse: boolean): Uint8Array {
    if (isReverse) return start;
    const text = byteText(start);
    const after = this.#gaps.after(text);
    return after === text ? start : Buffer.from(after, 'latin1');
  }

  *#noting(entries: Iterable<KvEntry>, start: Uint8Array, end: Uint8Array): Iterable<KvEntry> {
    let isFirst = true;
    for (const entry of entries) {
      if (isFirst) this.#gaps.note(byteText(start), byteText(entry.key));
      isFirst = false;
      yield entry;
    }
    if (isFirst) this.#gaps.note(byteText(start), byteText(end));
  }

  put(key: Uint8Array, value: Uint8Array, writtenMs?: number): void {
    // The tree would refuse it later, when the change has been acknowledged.
    if (key.length > KEY_BYTES_MAX) throw new RangeError(`A key of ${key.length} bytes: the limit is ${KEY_BYTES_MAX}`);
    const text = byteText(key);
    this.#gaps.put(text);
    this.#own.set(text, keptBytes(sealRecord(key, value, writtenMs)));
  }

  remove(key: Uint8Array): boolean {
    const text = byteText(key);
    const changed = this.#changed(text);
    this.#own.set(text, null);
    return changed === undefined ? this.#tree.has(key) : changed !== null;
  }

  #changed(key: string): Changed | undefined {
    for (const layer of this.#layers) {
      const changed = layer.get(key);
      if (changed !== undefined) return changed;
    }
    return undefined;
  }

  /** The oldest layer first. */
  #changesWithin(start: Uint8Array, end: Uint8Array, isReverse: boolean): Iterable<Change>[] {
    const found = this.#layers.map((layer) => layer.within(start, end, isReverse));
    return found.filter((changes) => changes !== undefined).reverse();
  }
}

/** Checks only what is seen: a damaged record that was replaced or removed does no harm. */
function* opened(records: Iterable<KvEntry>): Iterable<KvEntry> {
  for (const { key, value } of records) {
    const record = asBuffer(value);
    yield { key, value: openRecord(key, record), writtenMs: writtenMsOf(record) };
  }
}

function over(tree: Iterable<KvEntry>, layers: readonly Iterable<Change>[], isReverse: boolean): Iterable<KvEntry> {
  let below = tree;
  for (const changes of layers) below = merged(below, changes, isReverse);
  return below;
}
