// Reads keys, and records past damaged ones (D9): a damaged record must not keep other jobs from being handed over. The
// caller sets damaged records aside (`../../kv/set-aside.ts`).

import type { KeyRange } from '../../kv/keys.ts';
import type { KvEntry, KvReader, RangeOptions } from '../../kv/kv.ts';
import { DamagedRecord } from '../../kv/record.ts';

const NEXT = Buffer.of(0);

/** Yields the intact entries in order. Calls `damaged` with the keys of the others, in order too. */
export function* intactEntries(
  kv: KvReader,
  start: Uint8Array,
  end: Uint8Array,
  damaged: (key: Uint8Array) => void,
): Iterable<KvEntry> {
  for (let from = start; ; ) {
    try {
      yield* kv.range(from, end);
      return;
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
      damaged(error.key);
      from = Buffer.concat([error.key, NEXT]);
    }
  }
}

/** Copies of the keys, because the records they lead to may be changed at once. */
export function keysIn(kv: KvReader, { start, end }: KeyRange, options?: RangeOptions): Buffer[] {
  return [...kv.keys(start, end, options)].map((key) => Buffer.from(key));
}

/** The first one. */
export function firstIn(kv: KvReader, range: KeyRange): Buffer | undefined {
  return keysIn(kv, range, { limit: 1 })[0];
}
