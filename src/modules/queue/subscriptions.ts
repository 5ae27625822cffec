// Which functions get copies of what is published under which topic, and for how long their workers may be away.

import type { EnqueueRules } from '../../core/queue/shapes.ts';
import type { Binding } from '../../router/builtin.ts';

export interface Subscription {
  readonly topic: string;
  readonly functionId: string;
  readonly bindings: Set<Binding>;
  rules: EnqueueRules;
  delayMs: number;
  /** Nobody is bound: until then, by the monotonic clock, somebody may come back. `ENDED`: it was taken back. */
  endsMs: number | undefined;
}

/** Of one that gets no copies any more, and is known only for what its queue still holds. */
export const ENDED = Number.NEGATIVE_INFINITY;

export class Subscriptions {
  readonly #byTopic = new Map<string, Map<string, Subscription>>();

  get all(): readonly Subscription[] {
    return [...this.#byTopic.values()].flatMap((byFunction) => [...byFunction.values()]);
  }

  /** Topics that have or had a subscriber, with how many there are now. */
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

  /** In place of an earlier one of that function. */
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
