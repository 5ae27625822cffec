// Reading past damaged records (D9): one must not keep others from being handed over. Whoever is
// told of one that is in the way sets it aside (`../set-aside.ts`).

import type { KvEntry, KvReader } from '../kv.ts';
import { DamagedRecord } from '../record.ts';

const NEXT = Buffer.of(0);

/** The entries in their order; `damaged` is told the keys of those that are left out, in that order too. */
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
