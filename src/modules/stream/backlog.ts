// What the conflated subscriptions of one connection have not been sent while it is behind. It is counted together: the
// limits are those of the connection. Pure.

import type { StoreEvent } from '../../store/contract.ts';
import { conflatedMessage } from '../../store/stream/messages.ts';
import { KeptEvents } from './kept-events.ts';
import type { Subscription } from './subscription.ts';

export interface Round {
  readonly messages: readonly Uint8Array[];
  /** Events that nobody will send any more. */
  readonly leftOut: number;
}

export class Backlog {
  readonly #kept = new Map<Subscription, KeptEvents>();
  bytes = 0;
  count = 0;

  get isEmpty(): boolean {
    return this.#kept.size === 0;
  }

  holdsFor(subscription: Subscription): boolean {
    return this.#kept.has(subscription);
  }

  keep(subscription: Subscription, events: readonly StoreEvent[]): void {
    const [first] = events;
    if (first === undefined) return;
    let kept = this.#kept.get(subscription);
    if (kept === undefined) {
      kept = new KeptEvents(first.seq - 1);
      this.#kept.set(subscription, kept);
    }
    const { bytes, count } = kept;
    for (const event of events) kept.add(event);
    this.bytes += kept.bytes - bytes;
    this.count += kept.count - count;
  }

  /** Gives up what is kept for it. Returns the number up to which all was sent; `undefined`: nothing was kept. */
  drop(subscription: Subscription): number | undefined {
    const kept = this.#kept.get(subscription);
    if (kept === undefined) return undefined;
    this.#kept.delete(subscription);
    this.bytes -= kept.bytes;
    this.count -= kept.count;
    return kept.sentSeq;
  }

  /** Everything that is kept, as it leaves. */
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
