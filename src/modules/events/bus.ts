// What the module needs of whatever carries its events.

import type { RawJson } from '../../protocol/byte-string.ts';
import type { Cause } from '../../router/builtin.ts';

export interface Event extends Cause {
  readonly topic: string;
  readonly data: RawJson;
}

/** How far an event got, as far as the bus can tell. */
export interface Delivery {
  /** Engines that it was handed to, this one included. */
  readonly engines: number;
}

export interface EventBus {
  /** Why events do not get through now; `undefined`: they do. */
  readonly trouble: string | undefined;
  /** Rejects when the bus cannot be had; then nothing of it is left. */
  start(deliver: (event: Event) => void): Promise<void>;
  /**
   * Hands the event to every engine on the bus, this one included: at most once, in the order in which one engine
   * published. Fails with STORAGE_UNAVAILABLE when it cannot.
   */
  publish(event: Event): Delivery | Promise<Delivery>;
  stop(): void;
  /** For health. */
  facts(): Readonly<Record<string, unknown>>;
}
