// Rollups of several engines, compared with those of one engine that had all the points.

import { expect, test } from 'vitest';
import { mergedRollups } from '../../../../../src/core/telemetry/metrics/merge-rollups.ts';
import { RollupStore } from '../../../../../src/core/telemetry/metrics/rollup.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';

const NOW_MS = 1_700_000_000_000;
const QUERY = { level: 0, startTime: NOW_MS - 3_600_000, endTime: NOW_MS, name: undefined } as const;

function newStore(): RollupStore {
  return new RollupStore((reason) => {
    throw new Error(`A point was left out: ${reason}`);
  });
}

test('[CL30] the rollups of all engines are those of one engine that had all the points', () => {
  forEachSeed(30, (random) => {
    const [engines, one] = [[newStore(), newStore(), newStore()], newStore()];
    for (let point = 0; point < 100; point++) {
      const engine = engines[random.below(3)];
      const [name, atMs] = [`m${random.below(4)}`, NOW_MS - random.below(600_000)];
      const value = random.below(1_000);
      const counts = {
        count: 1,
        sum: value,
        min: value,
        max: value,
        explicitBounds: [10, 500],
        bucketCounts: [0, 0, 0],
      };
      counts.bucketCounts[value <= 10 ? 0 : value <= 500 ? 1 : 2] = 1;
      for (const store of [engine, one]) {
        store?.addNumber(name, atMs, value, NOW_MS);
        store?.addHistogram(`h.${name}`, atMs, counts, NOW_MS);
      }
    }
    const merged = mergedRollups(engines.map((store) => store.list(QUERY)));
    const whole = one.list(QUERY);
    const inOrder = <Row extends { name: string; bucket_start_ns: number }>(rows: readonly Row[]) =>
      rows
        .map(({ percentiles: _unknown, ...row }: Row & { percentiles?: unknown }) => row)
        .toSorted((a, b) => a.bucket_start_ns - b.bucket_start_ns || (a.name < b.name ? -1 : 1));
    expect(inOrder(merged.rollups)).toEqual(inOrder(whole.rollups));
    expect(inOrder(merged.histogram_rollups)).toEqual(inOrder(whole.histogram_rollups));
  });
});

test('[CL30] histograms with other bounds are rows of their own', () => {
  const [one, other] = [newStore(), newStore()];
  const counts = { count: 1, sum: 3, min: 3, max: 3, explicitBounds: [10], bucketCounts: [1, 0] };
  one.addHistogram('h', NOW_MS, counts, NOW_MS);
  other.addHistogram('h', NOW_MS, { ...counts, explicitBounds: [5, 10], bucketCounts: [1, 0, 0] }, NOW_MS);
  expect(mergedRollups([one.list(QUERY), other.list(QUERY)]).histogram_rollups).toHaveLength(2);
});
