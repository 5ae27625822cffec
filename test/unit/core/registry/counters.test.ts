import { expect, test } from 'vitest';
import { Counters } from '../../../../src/core/registry/counters.ts';

test('[guarantees 1.3] Events are counted by name and by reason', () => {
  const counters = new Counters();
  counters.count('b.dropped', 'draining');
  counters.count('b.dropped', 'draining');
  counters.count('b.dropped', 'OVERLOADED');
  counters.count('a.late');
  expect(counters.get('b.dropped', 'draining')).toBe(2);
  expect(counters.get('b.dropped')).toBe(0);
  expect(counters.snapshot()).toEqual({ 'a.late': 1, 'b.dropped{OVERLOADED}': 1, 'b.dropped{draining}': 2 });
  expect(Object.keys(counters.snapshot())).toEqual(['a.late', 'b.dropped{OVERLOADED}', 'b.dropped{draining}']);
});

test('From the 4 096th different reason on, reasons are counted together', () => {
  const counters = new Counters();
  counters.count('known', 'queue');
  for (let reason = 0; reason < 10_000; reason++) counters.count('flood', `reason ${reason}`);
  counters.count('known', 'queue');
  counters.count('plain');
  expect(Object.keys(counters.snapshot()).length).toBeLessThanOrEqual(4_098);
  expect(counters.get('flood', 'other')).toBe(10_000 - 4_095);
  expect([counters.get('known', 'queue'), counters.get('plain')]).toEqual([2, 1]);
});
