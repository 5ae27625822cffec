// Events kept for a slow subscriber: which, in which order, and what is reported about the others.

import { expect, test } from 'vitest';
import { KeptEvents } from '../../../../src/modules/stream/backlog.ts';
import type { StoreEvent } from '../../../../src/store/thread/contract.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

type Kind = 'create' | 'update' | 'delete' | 'event';

/** Its body is its number, followed by spaces so that bodies differ in length. */
function event(seq: number, kind: Kind, item = ''): StoreEvent {
  return { path: ['s', 'g', item], kind, seq, body: Buffer.from(`${' '.repeat(seq % 7)}${seq}`) };
}

function keptOf(events: readonly StoreEvent[]): KeptEvents {
  const kept = new KeptEvents((events[0]?.seq ?? 1) - 1);
  for (const one of events) kept.add(one);
  return kept;
}

/** As `[number, how many were left out before it]`. */
function sent(kept: KeptEvents): [number, number][] {
  return [...kept.inOrder()].map(({ body, leftOut }) => [Number(Buffer.from(body).toString()), leftOut]);
}

test('[T5] the newest event of each item is kept, with how many were left out before it', () => {
  const kept = keptOf([
    event(5, 'create', 'a'),
    event(6, 'update', 'b'),
    event(7, 'update', 'a'),
    event(8, 'delete', 'b'),
    event(9, 'update', 'c'),
  ]);
  expect(sent(kept)).toEqual([
    [7, 2],
    [8, 0],
    [9, 0],
  ]);
});

test('[T5] all custom events are kept, even those that name an item', () => {
  const kept = keptOf([event(1, 'update', 'a'), event(2, 'event', 'a'), event(3, 'event'), event(4, 'update', 'a')]);
  expect(sent(kept)).toEqual([
    [2, 1],
    [3, 0],
    [4, 0],
  ]);
});

test('[T5] a kept event holds a copy of its bytes, not the memory that it arrived in', () => {
  const block = Buffer.alloc(100_000, 'x');
  const kept = keptOf([{ path: ['s', 'g', 'a'], kind: 'update', seq: 1, body: block.subarray(0, 10) }]);
  const [only] = kept.inOrder();
  expect(only?.body.buffer.byteLength).toBe(10);
});

test('[T2] [T5] in any sequence, events are in order, each is kept or reported as left out, and bytes are exact', () => {
  forEachSeed(200, (random) => {
    const events = randomEvents(random);
    const kept = keptOf(events);
    const story = sent(kept);
    let seq = kept.sentSeq;
    for (const [at, leftOut] of story) {
      expect(at).toBe(seq + 1 + leftOut);
      seq = at;
    }
    expect(seq).toBe(events.at(-1)?.seq);
    const newest = events.filter(
      ({ kind, path, seq }) =>
        kind === 'event' ||
        !events.some((later) => later.kind !== 'event' && later.seq > seq && later.path[2] === path[2]),
    );
    expect(story.map(([at]) => at)).toEqual(newest.map(({ seq }) => seq));
    expect(kept.count).toBe(newest.length);
    expect(kept.bytes).toBe(newest.reduce((sum, { body }) => sum + body.length, 0));
  });
});

test('[T4] [T5] a subscriber that is cut off and reads on from its last number has the current items', () => {
  forEachSeed(200, (random) => {
    const events = randomEvents(random);
    const story = sent(keptOf(events));
    const got = story.slice(0, random.below(story.length + 1)).map(([seq]) => seq);
    const last = got.at(-1) ?? 0;
    const isHeard = ({ seq }: StoreEvent): boolean => got.includes(seq) || seq > last;
    expect(itemsAfter(events.filter(isHeard))).toEqual(itemsAfter(events));
  });
});

function randomEvents(random: SeededRandom): StoreEvent[] {
  const items = random.pick([['a'], ['a', 'b', 'c'], Array.from({ length: 30 }, (_, index) => `i${index}`)]);
  return Array.from({ length: random.between(1, 120) }, (_, index) =>
    event(index + 1, random.pick<Kind>(['create', 'update', 'update', 'delete', 'event']), random.pick(items)),
  );
}

/** The number that wrote each item. */
function itemsAfter(events: readonly StoreEvent[]): Map<string | undefined, number> {
  const items = new Map<string | undefined, number>();
  for (const { kind, path, seq } of events) {
    if (kind === 'delete') items.delete(path[2]);
    else if (kind !== 'event') items.set(path[2], seq);
  }
  return new Map([...items].sort());
}
