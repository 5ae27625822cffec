// The unsent events of the conflated subscriptions of one slow connection: of each, the newest event of each item, and
// all custom events. They are counted together: the limits are those of the connection. Pure.
//
// Invariants:
//   - Events are sent in the order of their numbers. So a subscriber that was sent number S needs nothing before it:
//     for each event that was left out up to S, the newer event of the same item either was sent too, or comes with a
//     number above S (T4).
//   - Each event is either kept or counted as left out before the next one that is kept (T2). The newest event is
//     always kept, so every subscriber ends with the latest number.

import { conflatedMessage } from '../../store/commands/stream/messages.ts';
import type { StoreEvent } from '../../store/thread/contract.ts';

export interface Round {
  readonly messages: readonly Uint8Array[];
  /** Events that will not be sent. */
  readonly leftOut: number;
}

export class Backlog {
  /** By the id of the subscription, which is unique on its connection. */
  readonly #kept = new Map<string, KeptEvents>();
  bytes = 0;
  count = 0;

  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  holdsFor(subscriptionId: string): boolean {
    return this.#kept.has(subscriptionId);
  }

  keep(subscriptionId: string, events: readonly StoreEvent[]): void {
    const [first] = events;
    if (first === undefined) return;
    let kept = this.#kept.get(subscriptionId);
    if (kept === undefined) {
      kept = new KeptEvents(first.seq - 1);
      this.#kept.set(subscriptionId, kept);
    }
    const { bytes, count } = kept;
    for (const event of events) kept.add(event);
    this.bytes += kept.bytes - bytes;
    this.count += kept.count - count;
  }

  /**
   * Removes what is kept for a subscription. Returns the number up to which all was sent; `undefined`: nothing was
   * kept.
   */
  drop(subscriptionId: string): number | undefined {
    const kept = this.#kept.get(subscriptionId);
    if (kept === undefined) return undefined;
    this.#kept.delete(subscriptionId);
    this.bytes -= kept.bytes;
    this.count -= kept.count;
    return kept.sentSeq;
  }

  /** Everything that is kept, in the form in which it is sent. */
  take(): Round {
    const messages: Uint8Array[] = [];
    let leftOutInAll = 0;
    for (const kept of this.#kept.values()) {
      for (const { body, leftOut } of kept.inOrder()) {
        messages.push(leftOut === 0 ? body : conflatedMessage(body, leftOut));
        leftOutInAll += leftOut;
      }
    }
    this.#kept.clear();
    this.bytes = 0;
    this.count = 0;
    return { messages, leftOut: leftOutInAll };
  }
}

interface KeptEvent {
  readonly body: Uint8Array;
  /** How many events directly before it are left out. */
  readonly leftOut: number;
}

interface Entry {
  readonly body: Uint8Array;
  /** Its position among all that came. */
  readonly ordinal: number;
}

/** The unsent events of one subscription. */
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
  add({ kind, path: [, , item = ''], seq, body }: StoreEvent): void {
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
