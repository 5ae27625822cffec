import { expect, test } from 'vitest';
import { type ClaimedTicks, claimTick, lastClaimed } from '../../../../src/core/cron/claims.ts';
import { forEachSeed } from '../../../support/random/seeded-random.ts';

function claimAll(...ticks: readonly [atMs: number, follows: boolean][]): ClaimedTicks {
  let claimed: ClaimedTicks = [];
  for (const [atMs, follows] of ticks) claimed = claimTick(claimed, atMs, follows) ?? claimed;
  return claimed;
}

test('[CR1] A tick is claimed once', () => {
  const claimed = claimAll([1000, false], [2000, true]);
  expect(claimed).toEqual([[1000, 2000]]);
  for (const atMs of [1000, 2000]) expect(claimTick(claimed, atMs, true)).toBeUndefined();
});

test('[CR3] An unclaimed tick may still be claimed, before and between claimed ones', () => {
  const claimed = claimAll([5000, false], [6000, true], [90_000, false]);
  expect(claimTick(claimed, 4000, false)).toContainEqual([4000, 4000]);
  expect(claimTick(claimed, 7000, true)).toContainEqual([5000, 7000]);
  expect(claimTick(claimed, 89_000, false)).toContainEqual([89_000, 89_000]);
  expect(lastClaimed(claimed)).toBe(90_000);
});

test('[CR1] Whatever the clock does, no tick is claimed twice, and few bytes are kept', () => {
  forEachSeed(200, (random) => {
    let claimed: ClaimedTicks = [];
    const won = new Set<number>();
    let at = 100;
    let follows = false;
    for (let step = 0; step < 300; step++) {
      const jumps = random.chance(5) && won.size > 0;
      at = jumps ? Math.max(0, at + random.between(-40, 40)) : at + 1;
      follows = follows && !jumps;
      const next = claimTick(claimed, at, follows);
      follows = true;
      if (next === undefined) continue;
      expect(won.has(at)).toBe(false);
      won.add(at);
      claimed = next;
    }
    expect(claimed.length).toBeLessThanOrEqual(32);
  });
});
