// Reads past damaged records (D9): one must not keep other jobs from being handed over. The caller sets damaged records
// aside (`../../kv/set-aside.ts`).

import type { KvEntry, KvReader } from '../../kv/kv.ts';
import { DamagedRecord } from '../../kv/record.ts';

const NEXT = Buffer.of(0);

/** Yields the intact entries in order. Calls `damaged` with the keys of the others, in order too. */
export function* soundEntries(
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
