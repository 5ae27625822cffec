// What the module needs from the bus that carries its events.

import type { RawJson } from '../../protocol/json/byte-string.ts';
import type { Cause } from '../../router/builtin.ts';

export interface Event extends Cause {
  readonly topic: string;
  readonly data: RawJson;
}

/** How far an event got, as far as the bus knows. */
export interface Delivery {
  /** The number of engines that received it, including this one. */
  readonly engines: number;
}

export interface EventBus {
  /** Why events are not delivered now; `undefined`: they are. */
  readonly trouble: string | undefined;
  /** Rejects when the bus is not available; then nothing of it remains. */
  start(deliver: (event: Event) => void): Promise<void>;
  /**
   * Sends the event to every engine on the bus, including this one: at most once, in the order in which one engine
   * published. Fails with STORAGE_UNAVAILABLE when it cannot.
   */
  publish(event: Event): Delivery | Promise<Delivery>;
  stop(): void;
  /** For health. */
  facts(): Readonly<Record<string, unknown>>;
}
