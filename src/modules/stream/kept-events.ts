// The unsent events of one subscription with `conflate` while its connection is slow: the newest event of each item,
// and all custom events. Pure.
//
// Invariants:
//   - Events are sent in the order of their numbers. So a subscriber that was sent number S needs nothing before it:
//     for each event that was left out up to S, the newer event of the same item either was sent too, or comes with a
//     number above S (T4).
//   - Each event is either kept or counted as left out before the next one that is kept (T2). The newest event is
//     always kept, so every subscriber ends with the latest number.

import type { StoreEvent } from '../../store/thread/contract.ts';

export interface KeptEvent {
  readonly body: Uint8Array;
  /** How many events directly before it are left out. */
  readonly leftOut: number;
}

interface Entry {
  readonly body: Uint8Array;
  /** Its place among all that came. */
  readonly ordinal: number;
}

export class KeptEvents {
  /** Everything below the first event that came has been sent. */
  readonly sentSeq: number;
  /** In the order of their numbers: by item, and a custom event by its number. */
  readonly #entries = new Map<string | number, Entry>();
  #cameCount = 0;
  #bytes = 0;

  constructor(sentSeq: number) {
    this.sentSeq = sentSeq;
  }

  get count(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The next event by its number. */
  add({ kind, place: [, , item = ''], seq, body }: StoreEvent): void {
    const key = ITEM_KINDS.has(kind) ? item : seq;
    this.#bytes += body.length - (this.#entries.get(key)?.body.length ?? 0);
    // Deleted and set again, it comes last in the map.
    this.#entries.delete(key);
    this.#cameCount += 1;
    // A copy: the body is a view of an answer of the store, which may hold a thousand others.
    this.#entries.set(key, { body: new Uint8Array(body), ordinal: this.#cameCount });
  }

  /** The kept events, in the order of their numbers. */
  *inOrder(): Generator<KeptEvent> {
    let last = 0;
    for (const { body, ordinal } of this.#entries.values()) {
      yield { body, leftOut: ordinal - last - 1 };
      last = ordinal;
    }
  }
}

/** Changes of an item: a newer one replaces an older one. */
const ITEM_KINDS: ReadonlySet<string> = new Set(['create', 'update', 'delete']);
