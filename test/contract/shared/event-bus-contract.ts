// The contract of event buses: the same for the one inside an engine and for the one between engines.

import { describe, expect, test } from 'vitest';
import type { Event, EventBus } from '../../../src/modules/events/bus.ts';
import { rawJson } from '../../../src/protocol/json/byte-string.ts';
import { waitFor } from '../../support/wait-for.ts';

export interface BusUnderTest {
  readonly name: string;
  /** A bus of its own; with `channel`, one more engine on that bus. */
  create(channel?: string): EventBus;
}

interface Listening extends Disposable {
  readonly bus: EventBus;
  readonly events: Event[];
}

export async function listen(bus: EventBus): Promise<Listening> {
  const events: Event[] = [];
  await bus.start((event) => events.push(event));
  return { bus, events, [Symbol.dispose]: () => bus.stop() };
}

export function testEventBus({ name, create }: BusUnderTest): void {
  describe(`${name}: a bus of events`, () => {
    test('[modules 8] delivers what is published, every kind of data as it was sent', async () => {
      using listening = await listen(create());
      const values = [null, 0, -1.5e300, 'Zürich\n"', [1, [2]], { a: { b: '\u{1F600}' } }, ''];
      for (const value of values) await listening.bus.publish({ topic: 'a', data: rawJson(value), depth: 3 });
      await waitFor('all events have arrived', () => listening.events.length === values.length);
      expect(listening.events).toEqual(values.map((value) => ({ topic: 'a', data: rawJson(value), depth: 3 })));
    });

    test('[modules 8] keeps the order in which one engine published', async () => {
      using listening = await listen(create());
      const topics = Array.from({ length: 500 }, (_, index) => `topic ${index}`);
      await Promise.all(topics.map((topic) => listening.bus.publish({ topic, data: rawJson(topic), depth: 0 })));
      await waitFor('all events have arrived', () => listening.events.length === topics.length);
      expect(listening.events.map(({ topic }) => topic)).toEqual(topics);
    });

    test('[modules 8] reports how many engines received an event, and is healthy', async () => {
      using listening = await listen(create());
      expect(listening.bus.trouble).toBeUndefined();
      expect(await listening.bus.publish({ topic: 'a', data: rawJson(1), depth: 0 })).toEqual({ engines: 1 });
    });

    test('[modules 8] delivers nothing after it was stopped', async () => {
      const listening = await listen(create());
      listening.bus.stop();
      await Promise.resolve(listening.bus.publish({ topic: 'a', data: rawJson(1), depth: 0 })).catch(() => {});
      expect(listening.events).toEqual([]);
    });
  });
}
