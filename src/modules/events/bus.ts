// Events, the bus that carries them, and the bus inside this engine. `src/validators/module-payloads.ts` compiles the
// shapes of the payloads.

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
  details(): Readonly<Record<string, unknown>>;
}

export interface PublishPayload {
  topic?: string | null;
  data?: unknown;
}

export interface EmitPayload {
  topic?: string | null;
  /** Accepted in place of `topic`. */
  name?: string | null;
  data?: unknown;
  /** Accepted in place of `data`. */
  payload?: unknown;
}

/** The first line of a message between engines; the event's data follows it. Unknown fields are ignored. */
export interface EventHeader {
  v: 1;
  topic: string;
  depth: number;
  traceparent?: string | undefined;
  baggage?: string | undefined;
}

const HERE = { engines: 1 };

/** The bus inside this engine: an event is delivered before `publish` returns. */
export function localBus(): EventBus {
  let deliver: ((event: Event) => void) | undefined;
  return {
    trouble: undefined,
    async start(to) {
      deliver = to;
    },
    publish(event) {
      deliver?.(event);
      return HERE;
    },
    stop() {
      deliver = undefined;
    },
    details: () => ({}),
  };
}
