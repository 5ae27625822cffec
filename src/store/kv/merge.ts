// Ranges of a map with changes laid over it. Pure.

import { Buffer } from 'node:buffer';
import type { KvEntry, RangeOptions } from './kv.ts';

export interface Change {
  readonly key: Uint8Array;
  /** `undefined`: removed. */
  readonly value: Uint8Array | undefined;
  readonly writtenMs?: number | undefined;
}

/** Merges both in key order, which `isReverse` turns around; of two entries with one key the change is used. */
export function* merged(below: Iterable<KvEntry>, changes: Iterable<Change>, isReverse: boolean): Iterable<KvEntry> {
  const direction = isReverse ? -1 : 1;
  const own = changes[Symbol.iterator]();
  let next = own.next();
  for (const entry of below) {
    while (next.done !== true && direction * Buffer.compare(next.value.key, entry.key) < 0) {
      yield* entryOf(next.value);
      next = own.next();
    }
    if (next.done === true || Buffer.compare(next.value.key, entry.key) !== 0) {
      yield entry;
      continue;
    }
    yield* entryOf(next.value);
    next = own.next();
  }
  for (; next.done !== true; next = own.next()) yield* entryOf(next.value);
}

function entryOf({ key, value, writtenMs }: Change): KvEntry[] {
  return value === undefined ? [] : [{ key, value, writtenMs }];
}

/** The part of a merged range that the options name. */
export function* sliced(entries: Iterable<KvEntry>, options: RangeOptions): Iterable<KvEntry> {
  const { limit = Number.POSITIVE_INFINITY, offset = 0 } = options;
  let index = -offset;
  if (limit <= 0) return;
  for (const entry of entries) {
    if (index++ < 0) continue;
    yield entry;
    if (index >= limit) return;
  }
}

/** Keys as entries that have no value. */
export function* bare(keys: Iterable<Uint8Array>): Iterable<KvEntry> {
  for (const key of keys) yield { key, value: NOTHING };
}

const NOTHING = Buffer.alloc(0);
