import { expect, test } from 'vitest';
import { FairLine } from '../../../../src/core/calls/fair-line.ts';
import { SeededRandom } from '../../../support/random/seeded-random.ts';

test('[L6] owners take turns, and each keeps its own order', () => {
  const line = new FairLine<string, string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) line.add(item.slice(0, 1), item);
  const taken = Array.from({ length: 7 }, () => line.take());
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', undefined]);
  expect(line.isEmpty).toBe(true);
});

test('[L6] an item that was removed is not taken, and its owner loses no turn', () => {
  const line = new FairLine<string, string>();
  for (const item of ['a1', 'a2', 'b1']) line.add(item.slice(0, 1), item);
  line.remove('a', 'a1');
  line.remove('b', 'b1');
  line.remove('b', 'b1');
  line.remove('none', 'x');
  expect([line.take(), line.take()]).toEqual(['a2', undefined]);
});

test('[L6] no owner waits for more than one item of each other owner, however many there are', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = new SeededRandom(seed);
    const line = new FairLine<number, { owner: number; takenBefore: number[] }>();
    const counts = new Array<number>(5).fill(0);
    const waiting = new Array<number>(5).fill(0);
    for (let step = 0; step < 500; step++) {
      if (random.below(2) === 0) {
        const owner = random.below(5);
        // Only the first of an owner has its turn at once; the next ones wait for their own owner as well.
        if (waiting[owner] === 0) line.add(owner, { owner, takenBefore: [...counts] });
        waiting[owner] = 1;
      } else {
        const item = line.take();
        if (item === undefined) continue;
        waiting[item.owner] = 0;
        const passed = counts.map((count, owner) => count - (item.takenBefore[owner] ?? 0));
        expect(Math.max(...passed)).toBeLessThanOrEqual(1);
        counts[item.owner] = (counts[item.owner] ?? 0) + 1;
      }
    }
  }
});
