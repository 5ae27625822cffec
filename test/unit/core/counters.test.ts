import { expect, test } from 'vitest';
import { Counters } from '../../../src/core/counters.ts';

test('[guarantees 1.3] What happened is counted by name and by reason', () => {
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
