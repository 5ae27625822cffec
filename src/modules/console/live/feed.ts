// Two ways to poll a source while it has watchers: a feed does so once for all of them, `poll` for one watcher that has
// its own filter.

import { type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';
import type { ConsoleContext } from '../console-context.ts';
import type { LiveSubscription, Opening } from './subscription.ts';

export abstract class Feed {
  protected readonly context: ConsoleContext;
  readonly #intervalMs: number;
  readonly #watchers = new Map<LiveSubscription, Opening>();
  #cancel: (() => void) | undefined;
  #isLooking = false;

  constructor(context: ConsoleContext, intervalMs: number) {
    this.context = context;
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
    this.#cancel = this.context.module.clock.every(this.#intervalMs, () => this.#look());
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

/** Polls immediately for the first time. A poll that fails ends the subscription. */
export function poll(
  { module: { clock } }: ConsoleContext,
  { subscription, failed }: Opening,
  intervalMs: number,
  look: () => Promise<void>,
): void {
  let isLooking = false;
  const run = (): void => {
    // With slow answers, polls must not pile up.
    if (isLooking || subscription.isOver) return;
    isLooking = true;
    look()
      .catch(failed)
      .finally(() => {
        isLooking = false;
      });
  };
  subscription.close = clock.every(intervalMs, run);
  clock.afterTurn(run);
}
