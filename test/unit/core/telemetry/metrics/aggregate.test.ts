import { describe, expect, test } from 'vitest';
import { Aggregate } from '../../../../../src/core/telemetry/metrics/aggregate.ts';
import { forEachSeed } from '../../../../support/random/seeded-random.ts';

describe('aggregates', () => {
  test('are exact for few values, and within two thousandths for many', () => {
    forEachSeed(20, (random) => {
      const scale = 10 ** ((random.bits() % 12) - 4);
      const values = Array.from({ length: 1 + (random.bits() % 2_000) }, () => (random.bits() % 100_000) * scale);
      const aggregate = new Aggregate();
      for (const value of values) aggregate.add(value);
      const sorted = Float64Array.from(values).sort();
      const row = aggregate.row('m', 0, 1);
      expect(row).toMatchObject({ count: values.length, min: sorted[0], max: sorted.at(-1) });
      const p50 = row.percentiles?.p50 ?? Number.NaN;
      const below = values.filter((value) => value < p50 * 0.998).length;
      const above = values.filter((value) => value > p50 * 1.002).length;
      expect(below).toBeLessThanOrEqual(values.length / 2 + 1);
      expect(above).toBeLessThanOrEqual(values.length / 2 + 1);
    });
  });

  test('do not change when they are closed', () => {
    const aggregate = new Aggregate();
    for (let value = 1; value <= 1_000; value++) aggregate.add(value);
    const before = aggregate.row('m', 0, 1);
    aggregate.freeze();
    expect(aggregate.row('m', 0, 1)).toEqual(before);
    const negative = new Aggregate();
    for (let value = -500; value <= 500; value++) negative.add(value);
    expect(negative.row('m', 0, 1).percentiles).toBeUndefined();
  });
});
