// The unsent events of the conflated subscriptions of one slow connection. They are counted together: the limits are
// those of the connection. Pure.

import { conflatedMessage } from '../../store/commands/stream/messages.ts';
import type { StoreEvent } from '../../store/thread/contract.ts';
import { KeptEvents } from './kept-events.ts';
import type { Subscription } from './subscription.ts';

export interface Round {
  readonly messages: readonly Uint8Array[];
  /** Events that will not be sent. */
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

  /**
   * Removes what is kept for a subscription. Returns the number up to which all was sent; `undefined`: nothing was
   * kept.
   */
  drop(subscription: Subscription): number | undefined {
    const kept = this.#kept.get(subscription);
    if (kept === undefined) return undefined;
    this.#kept.delete(subscription);
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
