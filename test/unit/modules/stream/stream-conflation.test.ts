// A subscriber with `conflate` that does not read: which events wait for it, and what it is sent when it reads on.

import { expect, test } from 'vitest';
import { TEST_STREAM_LIMITS } from '../../../support/engine/engine-in-memory.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';
import { type FeedsClient, FeedsInMemory } from '../../../support/stores/feeds-in-memory.ts';
import type { ReadMessage } from '../../../support/stores/stream-store.ts';

/** Slow from the first unread message on. */
const LIMITS = { ...TEST_STREAM_LIMITS, outboundMessages: 10 };

function publish(setup: FeedsInMemory, ...changes: ReturnType<FeedsInMemory['change']>[]): void {
  for (const events of changes) {
    setup.feeds.publish(events);
    setup.flush();
  }
}

/** A client that was sent its snapshot and one event, which it has not read. */
function slowClient(setup: FeedsInMemory, item?: string): FeedsClient {
  const client = setup.connect(item, { conflate: true });
  setup.answerNext();
  client.socket.stopReading();
  publish(setup, setup.change('first', 0));
  return client;
}

function story({ messages }: FeedsClient): string[] {
  return messages.map(({ seq, id, event, conflated }) => {
    const leftOut = conflated === undefined ? '' : ` +${conflated}`;
    return `${seq} ${event.type} ${id} ${JSON.stringify(event.data)}${leftOut}`;
  });
}

test('[T5] a subscriber that keeps up is sent every event, conflated or not', () => {
  const setup = new FeedsInMemory(LIMITS);
  const clients = [setup.connect(undefined, { conflate: true }), setup.connect()];
  setup.answerNext();
  setup.answerNext();
  for (let n = 0; n < 50; n++) publish(setup, setup.change('a', n));
  for (const client of clients) expect(client.messages.map(({ seq }) => seq)).toEqual([...Array(51).keys()]);
  expect(clients[0]?.socket.texts).toEqual(clients[1]?.socket.texts);
});

test('[T2] [T5] a slow subscriber is sent the newest event of each item in order, and how many were left out', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  publish(setup, setup.change('a', 1), setup.change('b', 1), setup.send('hello'), setup.change('a', 2));
  publish(setup, setup.change('gone', 1), setup.remove('gone'), setup.change('a', 3));
  expect(client.heard).toEqual(['0 sync', '1 create']);
  client.socket.readOn();
  expect(story(client).slice(2)).toEqual([
    '3 create b 1 +1',
    '4 event null undefined',
    '7 delete gone 1 +2',
    '8 update a 3',
  ]);
  publish(setup, setup.change('a', 4));
  expect(story(client).at(-1)).toBe('9 update a 4');
});

test('[T2] [T5] no event overtakes a kept one, even if little is unread', () => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, outboundMessages: 100 });
  const client = setup.connect(undefined, { conflate: true });
  setup.answerNext();
  client.socket.stopReading();
  for (let n = 1; n <= 9; n++) publish(setup, setup.change('a', n));
  // All but the end of the last message is read.
  client.socket.bufferedBytes = 1;
  publish(setup, setup.change('b', 10));
  client.socket.readOn();
  expect(client.messages.slice(-3).map(({ seq, conflated }) => [seq, conflated])).toEqual([
    [7, undefined],
    [9, 1],
    [10, undefined],
  ]);
});

test('[T5] kept events wait on if more was sent to other subscriptions', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  publish(setup, setup.change('a', 1), setup.change('a', 2));
  client.socket.emitDrained();
  expect(client.heard).toEqual(['0 sync', '1 create']);
  client.socket.readOn();
  expect(client.heard).toEqual(['0 sync', '1 create', '3 update']);
});

test('[T5] a thousand changes of few items do not close it, and changes of too many items do', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  for (let n = 0; n < 1_000; n++) publish(setup, setup.change(`i${n % 10}`, n));
  expect(client.socket.farewell).toBe(undefined);
  publish(setup, setup.change('one more', 0));
  expect(client.socket.farewell).toMatchObject({ code: 4408 });
  expect(setup.engine.context.counters.snapshot()).toMatchObject({ 'streams.closed{too_slow}': 1 });
});

test('[T5] kept bytes have the limit of unread bytes', () => {
  const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, outboundBufferBytes: 16_000 });
  const client = setup.connect(undefined, { conflate: true });
  setup.answerNext();
  client.socket.stopReading();
  for (let n = 0; n < 40; n++) publish(setup, setup.change('a', 'x'.repeat(4_000)));
  publish(setup, setup.change('b', 'x'.repeat(4_000)), setup.change('c', 'x'.repeat(4_000)));
  expect(client.socket.farewell).toBe(undefined);
  publish(setup, setup.change('d', 'x'.repeat(4_000)));
  expect(client.socket.farewell).toMatchObject({ code: 4408, reason: expect.stringMatching(/bytes wait to be read/) });
});

test('[T5] custom events are never left out, and too many of them close it with 4408', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  for (let n = 0; n < 10; n++) publish(setup, setup.send('e'));
  expect(client.socket.farewell).toBe(undefined);
  publish(setup, setup.send('e'));
  expect(client.socket.farewell).toMatchObject({ code: 4408 });
});

test('[T5] a subscription of the same connection without conflation is sent every event', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  client.say({ type: 'join', data: { subscriptionId: 'whole', streamName: 's', groupId: 'g' } });
  setup.answerNext();
  for (let n = 0; n < 4; n++) publish(setup, setup.change('a', n));
  client.socket.readOn();
  expect(client.heard).toEqual([
    ...['0 sync', '1 create', '1 sync'],
    ...['2 create', '3 update', '4 update', '5 update'],
    '5 update',
  ]);
});

test('[T5] events kept for a subscription that was left or joined again are dropped', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  const join = { subscriptionId: 'path', streamName: 's', groupId: 'g', conflate: true };
  publish(setup, setup.change('a', 1));
  client.say({ type: 'join', data: join });
  setup.answerNext();
  publish(setup, setup.change('a', 2), setup.change('a', 3));
  client.socket.readOn();
  expect(story(client).slice(2)).toEqual(['2 sync null [1,0]', '4 update a 3 +1']);
  client.socket.stopReading();
  publish(setup, setup.change('a', 4), setup.change('a', 5));
  client.say({ type: 'leave', data: join });
  client.socket.readOn();
  expect(story(client).slice(4)).toEqual(['5 update a 4']);
});

test('[T2] [T5] a missing number while events are kept is read from the last sent number on', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  publish(setup, setup.change('a', 1), setup.change('a', 2));
  setup.change('a', 3);
  publish(setup, setup.change('a', 4));
  expect(setup.asked.map(({ since }) => since)).toEqual([{ epoch: 'e1', seq: 1 }]);
  setup.answerNext();
  client.socket.readOn();
  expect(client.heard.slice(2)).toEqual(['1 sync', '2 create', '3 update', '4 update', '5 update']);
});

test('[T5] events left out are counted', () => {
  const setup = new FeedsInMemory(LIMITS);
  const client = slowClient(setup);
  for (let n = 0; n < 30; n++) publish(setup, setup.change('a', n));
  client.socket.readOn();
  expect(setup.engine.context.counters.snapshot()).toMatchObject({ 'streams.conflated': 29 });
});

test('[T2] [T4] [T5] however it reads and whenever it is cut off, every event left out is reported and the items are right', () => {
  forEachSeed(60, (random) => {
    const setup = new FeedsInMemory({ ...TEST_STREAM_LIMITS, outboundMessages: 30 });
    const received: ReadMessage[] = [];
    let client = setup.connect(undefined, { conflate: true });
    setup.answerNext();
    for (let step = 0; step < 150; step++) {
      const what = random.below(100);
      if (what < 60) setup.feeds.publish(anyChange(setup, random));
      else if (what < 75) setup.flush();
      else if (what < 85) client.socket.stopReading();
      else if (what < 90) client.socket.bufferedBytes = random.below(client.socket.bufferedBytes + 1);
      else if (what < 97 && client.socket.isOpen) client.socket.readOn();
      else client = backAgain(setup, client, received, random);
    }
    client = backAgain(setup, client, received, random);
    setup.feeds.publish(setup.change('last', 0));
    setup.flush();
    client.socket.readOn();
    received.push(...client.messages);
    expect(itemsAfter(received)).toEqual(setup.store.ask('stream::list', { stream_name: 's', group_id: 'g' }));
  });
});

function anyChange(setup: FeedsInMemory, random: SeededRandom) {
  const item = random.pick(['a', 'b', 'c', 'd', 'e']);
  const what = random.below(10);
  return what === 0 ? setup.send('e') : what < 4 ? setup.remove(item) : setup.change(item, random.below(1_000));
}

/**
 * The connection breaks after any message that was sent, or was closed; the client reconnects with the last number that it saw.
 */
function backAgain(
  setup: FeedsInMemory,
  client: FeedsClient,
  received: ReadMessage[],
  random: SeededRandom,
): FeedsClient {
  const messages = client.messages.slice(0, random.between(1, client.messages.length));
  if (client.socket.isOpen) client.drop();
  received.push(...messages);
  const last = received.at(-1);
  const since = last && { epoch: last.epoch, seq: last.seq };
  const next = setup.connect(undefined, { conflate: true, ...(since && { since }) });
  setup.answerNext();
  return next;
}

/** The items of a client that received these messages; checks the numbers on the way. */
function itemsAfter(messages: readonly ReadMessage[]): { readonly group: readonly unknown[] } {
  const items = new Map<string, unknown>();
  let seq = 0;
  for (const { id, event, seq: at, conflated = 0 } of messages) {
    if (event.type === 'sync') {
      if (event.recovered === true) expect(at).toBe(seq);
      else items.clear();
      for (const [index, name] of (event.ids ?? []).entries()) items.set(name, (event.data as unknown[])[index]);
    } else {
      expect(at).toBe(seq + 1 + conflated);
      if (event.type === 'delete') items.delete(id ?? '');
      else if (event.type !== 'event') items.set(id ?? '', event.data);
    }
    seq = at;
  }
  return { group: [...items].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, data]) => data) };
}
