// Keys that the engines of a cluster claim or remember together, each kind in a bucket with a lifetime of its own.

import { keyPart } from '../core/cluster/bucket-keys.ts';
import type { Bucket } from '../effects/nats/bucket.ts';

/** What is kept, and for how long. */
export const KEY_KINDS = {
  /** Ticks of schedules that an engine runs or has run. */
  ticks: { lifetimeMs: 24 * 3_600_000 },
  /** Until when the ticks of a schedule are settled, and when an alert rule last acted. */
  schedules: { lifetimeMs: undefined },
} as const;

export type KeyKind = keyof typeof KEY_KINDS;

export class SharedKeys {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Whether this engine is the first to claim the key. Rejects where that is unknown. */
  claim(...names: readonly string[]): Promise<boolean> {
    return this.#bucket.claim(keyOf(names));
  }

  read(...names: readonly string[]): Promise<string | undefined> {
    return this.#bucket.read(keyOf(names));
  }

  async write(value: string, ...names: readonly string[]): Promise<void> {
    await this.#bucket.put(keyOf(names), value);
  }

  /**
   * Replaces the value by that which `next` makes of it; `undefined` leaves it. False: it was left, or another engine
   * replaced it meanwhile.
   */
  exchange(next: (value: string | undefined) => string | undefined, ...names: readonly string[]): Promise<boolean> {
    return this.#bucket.exchange(keyOf(names), next);
  }
}

function keyOf(names: readonly string[]): string {
  return names.map((name) => keyPart(name).part).join('.');
}
