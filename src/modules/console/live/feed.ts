// A source that is polled at intervals while it has watchers, once for all of them.

import { type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';
import type { Desk } from '../desk.ts';
import type { LiveSubscription } from './subscription.ts';
import type { Opening } from './topics.ts';

export abstract class Feed {
  protected readonly desk: Desk;
  readonly #intervalMs: number;
  readonly #watchers = new Map<LiveSubscription, Opening>();
  #cancel: (() => void) | undefined;
  #isLooking = false;

  constructor(desk: Desk, intervalMs: number) {
    this.desk = desk;
    this.#intervalMs = intervalMs;
  }

  static text(item: unknown): RawJson {
    return rawJson(item);
  }

  get isIdle(): boolean {
    return this.#watchers.size === 0;
  }

  add(opening: Opening): void {
    const { topic, subscription } = opening;
    if (this.isIdle) this.begin();
    this.#watchers.set(subscription, opening);
    subscription.close = () => this.#remove(subscription);
    subscription.opened(topic, null);
    for (const item of this.first()) subscription.push(Feed.text(item));
    if (this.#cancel !== undefined) return;
    this.#cancel = this.desk.context.clock.every(this.#intervalMs, () => this.#look());
    this.#look();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** Called when the first watcher comes. */
  protected begin(): void {}

  /** What a new watcher receives immediately. */
  protected first(): readonly unknown[] {
    return [];
  }

  /** What happened since the last poll, for all watchers. */
  protected abstract look(): Promise<readonly unknown[]> | readonly unknown[];

  async #look(): Promise<void> {
    // With a slow store, polls must not pile up.
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const items = await this.look();
      for (const item of items) {
        const text = Feed.text(item);
        for (const subscription of this.#watchers.keys()) subscription.push(text);
      }
    } catch (error) {
      for (const { failed } of [...this.#watchers.values()]) failed(error);
    } finally {
      this.#isLooking = false;
    }
  }

  #remove(subscription: LiveSubscription): void {
    this.#watchers.delete(subscription);
    if (this.isIdle) this.stop();
  }
}
