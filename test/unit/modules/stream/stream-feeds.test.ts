// The path of events to subscribers, with a store that the test controls and sockets without a network.

import { expect, test } from 'vitest';
import { RAW_NULL } from '../../../../src/protocol/json/byte-string.ts';
import { addModuleType } from '../../../../src/router/triggers/triggers.ts';
import { STORE_LIMITS, type StoreEvent } from '../../../../src/store/thread/contract.ts';
import { TEST_STREAM_LIMITS } from '../../../support/engine/engine-in-memory.ts';
import { FakeSocket } from '../../../support/fakes/fake-socket.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';
import { type FeedsClient, FeedsInMemory, GROUP } from '../../../support/stores/feeds-in-memory.ts';
import type { ReadMessage, StreamStore } from '../../../support/stores/stream-store.ts';

test('[T3] events that happen while the snapshot is read follow it, from the next number on', () => {
  const setup = new FeedsInMemory();
  setup.feeds.publish(setup.change('a', 1));
  const client = setup.connect();
  setup.feeds.publish(setup.change('a', 2));
  setup.flush();
  const later = setup.change('a', 3);
  setup.answerNext();
  setup.feeds.publish(later);
  setup.feeds.publish(setup.change('a', 4));
  // The snapshot was read after number 3, so it includes 2, which was held, and 3, which arrived late.
  expect(client.heard).toEqual(['3 sync', '4 update']);
});

test('[T2] a subscriber with a missing number reads again from its position', () => {
  const setup = new FeedsInMemory();
  const client = setup.connect();
  setup.answerNext();
  setup.feeds.publish(setup.change('a', 1));
  setup.flush();
  setup.change('a', 2);
  setup.feeds.publish(setup.change('a', 3));
  expect(client.heard).toEqual(['0 sync', '1 create']);
  expect(setup.asked.map(({ since }) => since)).toEqual([{ epoch: 'e1', seq: 1, live: true }]);
  setup.answerNext();
  setup.feeds.publish(setup.change('a', 4));
  expect(client.heard).toEqual(['0 sync', '1 create', '1 sync', '2 update', '3 update', '4 update']);
});

test('[T5] a subscriber whose held events pass the limit is closed with 4408', () => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, outboundMessages: 10 });
  const client = setup.connect();
  for (let n = 0; n < 11; n++) setup.feeds.publish(setup.change('a', n));
  setup.flush();
  expect(client.socket.farewell).toMatchObject({ code: 4408 });
  expect(setup.feeds.groupCount).toBe(0);
  setup.answerNext();
  expect(client.socket.texts).toEqual([]);
});

test('[T5] the number of unread messages is limited too, and reading frees them', () => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, outboundMessages: 10 });
  const [slow, quick] = [setup.connect(), setup.connect()];
  setup.answerNext();
  setup.answerNext();
  slow.socket.stopReading();
  const publish = (count: number): void => {
    for (let n = 0; n < count; n++) {
      setup.feeds.publish(setup.change('a', n));
      setup.flush();
    }
  };
  publish(10);
  slow.socket.bufferedBytes = 0;
  publish(11);
  expect(slow.socket.farewell).toBe(undefined);
  publish(1);
  expect(slow.socket.farewell).toMatchObject({ code: 4408 });
  expect(quick.heard).toHaveLength(23);
});

test('[T6] the text of an event is built once for all subscribers, and the events of a turn leave in one write', () => {
  const setup = new FeedsInMemory();
  const clients = Array.from({ length: 3 }, () => setup.connect());
  for (const _client of clients) setup.answerNext();
  setup.flush();
  const before = clients.map(({ socket }) => socket.writeCount);
  for (let n = 0; n < 20; n++) setup.feeds.publish(setup.change('a', n));
  setup.flush();
  expect(clients.map(({ socket }, index) => socket.writeCount - (before[index] ?? 0))).toEqual([1, 1, 1]);
  for (const client of clients) expect(client.heard).toHaveLength(21);
});

test('[T5] if all clients together have too much unread, those with the most are closed at once', () => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, allBuffersBytes: 250 });
  setup.clients.start();
  const clients = Array.from({ length: 5 }, () => setup.connect());
  for (const _client of clients) setup.answerNext();
  for (const { socket } of clients) socket.stopReading();
  setup.feeds.publish(setup.change('a', 1));
  setup.flush();
  for (const [index, { socket }] of clients.entries()) socket.bufferedBytes = 100 + index;
  setup.engine.clock.advance(1_000);
  expect(clients.map(({ socket }) => socket.isOpen)).toEqual([true, true, false, false, false]);
});

test('[T7] a client with a failed snapshot that is closed as too slow leaves once', () => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, outboundMessages: 1 });
  const client = setup.connect();
  setup.answerNext();
  client.socket.stopReading();
  for (let n = 0; n < 2; n++) {
    setup.feeds.publish(setup.change('a', n));
    setup.flush();
  }
  // A number is missing, so the store is asked again, and cannot answer.
  setup.change('a', 2);
  setup.feeds.publish(setup.change('a', 3));
  setup.flush();
  setup.failNext();
  expect(client.socket.farewell).toMatchObject({ code: 4408 });
  expect(setup.joinsAndLeaves.leaveCount).toBe(1);
});

test.each([0, 1_000])(
  '[T5] an event of a removed group reaches the remaining subscribers, with %i events kept',
  (kept) => {
    const setup = new FeedsInMemory();
    setup.store.limits = { ...STORE_LIMITS, streamHistoryEvents: kept };
    const send = (group_id: string) =>
      setup.store.run('stream::send', { ...GROUP, group_id, type: 't', data: 1 }).events ?? [];
    const giveUp = (): void => {
      setup.store.nowMs += 6 * 60_000;
      setup.store.run('stream.sweep');
    };
    const client = setup.connect();
    setup.answerNext();
    setup.feeds.publish(send('g'));
    setup.flush();
    giveUp();
    for (let n = 0; n < 5; n++) send('other');
    giveUp();
    // Its numbers follow those of the other group: the subscriber gets the position, and misses nothing.
    setup.feeds.publish(send('g'));
    setup.flush();
    setup.feeds.publish(send('g'));
    setup.flush();
    setup.answerNext();
    expect(client.heard).toEqual(['0 sync', '1 event', '6 sync', '7 event', '8 event']);
    expect(client.messages[2]?.event).toEqual({ type: 'sync', recovered: true });
  },
);

test('[W1] a silent client is closed after 25 s, and one that joins nothing after 60 s', () => {
  const setup = new FeedsInMemory();
  setup.clients.start();
  const connection = { target: { kind: 'root' } as const, address: '10.0.0.1', isBatched: false, context: RAW_NULL };
  const [idle, silent] = [new FakeSocket(), new FakeSocket()];
  const events = setup.clients.connected(idle, connection);
  setup.clients.connected(silent, connection);
  for (let second = 0; second < 62; second++) {
    setup.engine.clock.advance(1_000);
    if (idle.isOpen) events.heard();
    if (second === 20) expect(silent.pingCount).toBe(2);
  }
  expect(silent.farewell).toBe('terminated');
  expect(idle.farewell).toMatchObject({ code: 4401 });
});

test('[guarantees 4] the time for the first join can be set', () => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, registrationMs: 3_000 });
  setup.clients.start();
  const idle = new FakeSocket();
  const target = { kind: 'root' } as const;
  setup.clients.connected(idle, { target, address: '10.0.0.1', isBatched: false, context: RAW_NULL });
  for (let second = 0; second < 10; second++) setup.engine.clock.advance(1_000);
  expect(idle.farewell).toMatchObject({ code: 4401, reason: 'nothing was joined within 3 s' });
});

test('[T2] [T3] in any order of snapshots and events, no event is lost or repeated', () => {
  forEachSeed(60, (random) => {
    const setup = new FeedsInMemory();
    const clients: FeedsClient[] = [];
    /** Events that the store has made and the router has not seen. */
    const onTheWay: StoreEvent[] = [];
    for (let step = 0; step < 200; step++) {
      const what = random.below(100);
      if (what < 40) onTheWay.push(...setup.change(random.pick(['a', 'b']), step));
      else if (what < 60) setup.feeds.publish(onTheWay.splice(0, random.below(4)));
      else if (what < 70) clients.push(setup.connect(random.chance(30) ? 'a' : undefined));
      else if (what < 85 && setup.asked.length > 0) setup.answerNext();
      else if (what < 88) onTheWay.splice(0, 1);
      else setup.flush();
    }
    setup.feeds.publish(onTheWay.splice(0));
    setup.feeds.publish(setup.change('a', 'last'));
    setup.flush();
    while (setup.asked.length > 0) setup.answerNext();
    for (const client of clients) checkStory(client.messages, setup.store);
  });
});

/** Numbers that rise one by one within a group, and at the end the last value. */
function checkStory(messages: readonly ReadMessage[], store: StreamStore): void {
  const items = new Map<string, unknown>();
  let seq = 0;
  const isWhole = messages[0]?.id === null;
  for (const { id, event, seq: at } of messages) {
    if (event.type === 'sync' && event.recovered !== true) {
      items.clear();
      for (const [index, name] of (event.ids ?? ['a']).entries()) {
        items.set(name, isWhole ? (event.data as unknown[])[index] : event.data);
      }
    } else if (event.type !== 'sync') {
      if (isWhole) expect(at).toBe(seq + 1);
      else expect(at).toBeGreaterThan(seq);
      items.set(id ?? '', event.data);
    } else expect(at).toBeGreaterThanOrEqual(seq);
    seq = at;
  }
  expect(items.get('a')).toBe('last');
  if (isWhole)
    expect([...items.values()]).toHaveLength((store.ask('stream::list', GROUP) as { group: [] }).group.length);
}

test.each([5_000, 300])('[X6] [guarantees 4] a join handler that does not answer within %i ms refuses', (askMs) => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, askMs });
  const { engine, joinsAndLeaves } = setup;
  addModuleType(engine.context, joinsAndLeaves.joins);
  const gate = engine.connect();
  gate.register('gate');
  gate.bind('j', 'stream:join', 'gate');
  const client = setup.connect();
  expect(gate.nextCall()).toMatchObject({ function_id: 'gate', data: { stream_name: 's', group_id: 'g' } });
  engine.advance(askMs - 100);
  expect(client.heard).toEqual([]);
  engine.advance(200);
  expect(client.messages.map(({ event }) => event.type)).toEqual(['unauthorized']);
  expect([setup.asked, joinsAndLeaves.leaveCount]).toEqual([[], 0]);
});
