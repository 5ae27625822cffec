// The bus inside this engine: an event is delivered before `publish` returns.

import type { Event, EventBus } from '../bus.ts';

const HERE = { engines: 1 };

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
    facts: () => ({}),
  };
}
