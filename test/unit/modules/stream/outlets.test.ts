// The stream port of a further router and the streams of the first one, with the messages between them in the hands of
// the test.

import { expect, test } from 'vitest';
import { HomeStreams } from '../../../../src/modules/stream/outlets/home-streams.ts';
import type { FromOutlet, ToOutlet } from '../../../../src/modules/stream/outlets/messages.ts';
import { Outlets } from '../../../../src/modules/stream/outlets/outlets.ts';
import type { Subscriber, SubscriptionGate } from '../../../../src/modules/stream/subscription.ts';
import { RAW_NULL } from '../../../../src/protocol/json/byte-string.ts';
import type { StoreEvent } from '../../../../src/store/thread/contract.ts';

const MIB = 1024 * 1024;
const GROUP = { stream: 's', group: 'g' };

function event(seq: number, bytes: number, group = 'g'): StoreEvent {
  return { path: ['s', group, 'i'], kind: 'update', seq, body: Buffer.alloc(bytes, 'x') };
}

function subscriber(id: string): Subscriber {
  return { ...GROUP, id, item: undefined, context: RAW_NULL };
}

class Gate implements SubscriptionGate {
  readonly asked: { readonly id: string; answer(isIn: boolean): void }[] = [];
  readonly left: string[] = [];

  join({ id }: Subscriber, done: (isIn: boolean) => void): void {
    this.asked.push({ id, answer: done });
  }

  leave({ id }: Subscriber): void {
    this.left.push(id);
  }
}

/** Both sides. A message arrives when the test delivers it. */
class Pair {
  readonly gate = new Gate();
  readonly seen: number[] = [];
  resets = 0;
  readonly home: HomeStreams;
  readonly outlets: Outlets;
  readonly #there: FromOutlet[] = [];
  readonly #back: ToOutlet[] = [];
  readonly #take: (message: FromOutlet) => void;

  constructor() {
    this.outlets = new Outlets({ gate: this.gate, read: (_subject, _since, done) => done({}), watch: () => () => {} });
    this.home = new HomeStreams((message) => this.#there.push(message));
    this.#take = this.outlets.connect((message) => this.#back.push(message));
  }

  watch(): () => void {
    const unwatch = this.home.watch(GROUP, {
      event: ({ seq }) => this.seen.push(seq),
      reset: () => {
        this.resets++;
      },
    });
    this.deliver();
    return unwatch;
  }

  deliver(): void {
    while (this.#there.length + this.#back.length > 0) {
      for (const message of this.#there.splice(0)) this.#take(message);
      for (const message of this.#back.splice(0)) this.home.take(message);
    }
  }
}

test('[RO16] a port gets the events of the groups in which it has subscribers, and no others', () => {
  const pair = new Pair();
  const unwatch = pair.watch();
  pair.outlets.publish([event(1, 10), event(7, 10, 'other'), event(2, 10)]);
  pair.deliver();
  unwatch();
  pair.deliver();
  pair.outlets.publish([event(3, 10)]);
  pair.deliver();
  expect(pair.seen).toEqual([1, 2]);
});

test('[RO16] a port that does not keep up gets no more than it may hold, and reads again when it has caught up', () => {
  const pair = new Pair();
  pair.watch();
  for (let seq = 1; seq <= 100; seq++) pair.outlets.publish([event(seq, MIB)]);
  expect(pair.resets).toBe(0);
  pair.deliver();
  expect(pair.seen).toEqual(Array.from({ length: 15 }, (_, at) => at + 1));
  expect(pair.resets).toBe(1);
  pair.outlets.publish([event(101, 10)]);
  pair.deliver();
  expect(pair.seen.at(-1)).toBe(101);
});

test('[RO16] an event that is larger than all that may wait is sent alone', () => {
  const pair = new Pair();
  pair.watch();
  pair.outlets.publish([event(1, 20 * MIB)]);
  pair.deliver();
  expect(pair.seen).toEqual([1]);
});

test('[RO16] [T7] a drain sends the leave events of all that were admitted, also of one that is decided later', () => {
  const pair = new Pair();
  const verdicts: string[] = [];
  for (const id of ['in', 'out', 'late', 'gone']) {
    pair.home.join(subscriber(id), (isIn) => verdicts.push(`${id} ${isIn}`));
  }
  pair.deliver();
  const [first, second, third, fourth] = pair.gate.asked;
  first?.answer(true);
  second?.answer(false);
  fourth?.answer(true);
  pair.deliver();
  expect(pair.outlets.count('s', 'g')).toBe(2);
  pair.outlets.drain();
  third?.answer(true);
  pair.deliver();
  expect(pair.gate.left.sort()).toEqual(['gone', 'in', 'late']);
  expect(pair.outlets.count('s', 'g')).toBe(0);
  expect(verdicts).toEqual(['in true', 'out false', 'gone true', 'late true']);
});

test('[RO16] a subscription that ends leaves once, and a list shows those that are there', async () => {
  const pair = new Pair();
  pair.home.subscribersOf = () => [{ id: 'b', address: null, sinceMs: 1, bufferedBytes: 2, item: null }];
  const [a, b] = [subscriber('a'), subscriber('b')];
  for (const one of [a, b]) pair.home.join(one, () => {});
  pair.deliver();
  for (const { answer } of pair.gate.asked) answer(true);
  pair.deliver();
  pair.home.leave(a);
  pair.home.leave(a);
  pair.deliver();
  expect(pair.gate.left).toEqual(['a']);
  expect(pair.outlets.groups()).toEqual([GROUP]);
  const listed = pair.outlets.subscribersOf(GROUP);
  pair.deliver();
  expect((await listed).map(({ id }) => id)).toEqual(['b']);
});
