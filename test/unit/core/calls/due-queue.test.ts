import { expect, test } from 'vitest';
import { type Due, DueQueue } from '../../../../src/core/calls/due-queue.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

test('The item with the earliest time is the first, while items are added, moved and removed', () => {
  forEachSeed(100, (random) => {
    const queue = new DueQueue<Due>();
    const items = new Set<Due>();
    for (let step = 0; step < 300; step++) {
      const removed = random.chance(40) && items.size > 0 ? random.pick([...items]) : undefined;
      if (removed === undefined) {
        const item = { dueMs: 0, heapIndex: -1 };
        queue.add(item, random.below(100));
        items.add(item);
      } else {
        queue.remove(removed);
        queue.remove(removed);
        items.delete(removed);
      }
      const times = [...items].map(({ dueMs }) => dueMs);
      expect([queue.size, queue.first?.dueMs ?? -1]).toEqual([
        items.size,
        times.length === 0 ? -1 : Math.min(...times),
      ]);
    }
  });
});
