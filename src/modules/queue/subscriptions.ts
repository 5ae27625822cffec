// Which functions receive the messages of which topic, and how long their workers may be away.

import type { EnqueueRules } from '../../core/queue/shapes.ts';
import type { Binding } from '../../router/builtin.ts';

export interface Subscription {
  readonly topic: string;
  readonly functionId: string;
  readonly bindings: Set<Binding>;
  rules: EnqueueRules;
  delayMs: number;
  /** The last trusted worker left and may come back, also while restricted connections are subscribed. */
  awaitsTrusted: boolean;
  /**
   * No trigger is bound: the subscription ends at this time of the monotonic clock unless one is bound again. `ENDED`:
   * it was removed.
   */
  endsMs: number | undefined;
}

/** A subscription that gets no copies any more, and exists only for the jobs left in its queue. */
export const ENDED = Number.NEGATIVE_INFINITY;

export class Subscriptions {
  readonly #byTopic = new Map<string, Map<string, Subscription>>();

  get all(): readonly Subscription[] {
    return [...this.#byTopic.values()].flatMap((byFunction) => [...byFunction.values()]);
  }

  /** Topics that have or had a subscriber, with the present number. */
  get counts(): ReadonlyMap<string, number> {
    return new Map(
      [...this.#byTopic].map(([topic, byFunction]) => [
        topic,
        [...byFunction.values()].filter(({ bindings }) => bindings.size > 0).length,
      ]),
    );
  }

  of(topic: string): readonly Subscription[] {
    return [...(this.#byTopic.get(topic)?.values() ?? [])];
  }

  find(topic: string, functionId: string): Subscription | undefined {
    return this.#byTopic.get(topic)?.get(functionId);
  }

  /** Replaces an earlier one of that function. */
  put(subscription: Subscription): void {
    const { topic, functionId } = subscription;
    const byFunction = this.#byTopic.get(topic) ?? new Map<string, Subscription>();
    this.#byTopic.set(topic, byFunction);
    byFunction.set(functionId, subscription);
  }

  remove({ topic, functionId }: Subscription): void {
    const byFunction = this.#byTopic.get(topic);
    byFunction?.delete(functionId);
    if (byFunction?.size === 0) this.#byTopic.delete(topic);
  }
}
