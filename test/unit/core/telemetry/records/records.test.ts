import { expect, test } from 'vitest';
import { recordBytes } from '../../../../../src/core/telemetry/records/records.ts';
import { logRecord } from '../../../../support/telemetry/telemetry-records.ts';

test('Names of attributes and deep values count towards the size of a record', () => {
  const plain = recordBytes(logRecord({ attributes: {} }));
  expect(recordBytes(logRecord({ attributes: { ['k'.repeat(10_000)]: 1 } })) - plain).toBeGreaterThan(20_000);
  let deep: unknown = 'x'.repeat(10_000);
  for (let depth = 0; depth < 100; depth++) deep = [deep];
  expect(recordBytes(logRecord({ attributes: { deep } })) - plain).toBeGreaterThan(20_000);
});
