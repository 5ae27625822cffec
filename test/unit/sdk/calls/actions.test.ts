import { expect, test } from 'vitest';
import { Enqueue, Void } from '../../../../src/sdk/calls/actions.ts';

test('[SDK-1] Enqueue and Void are the actions of the wire, without fields that were not set', () => {
  expect(Void()).toEqual({ type: 'void' });
  expect(Enqueue({ queue: 'mail' })).toEqual({ type: 'enqueue', queue: 'mail' });
  const all = { queue: 'mail', idempotency_key: 'k', delay_ms: 0, priority: -1 };
  expect(Enqueue(all)).toEqual({ type: 'enqueue', ...all });
});

test('[SDK-1] an invalid Enqueue throws at once, with the value and the range', () => {
  expect(() => Enqueue({ queue: '' })).toThrow('Enqueue: queue is ""');
  expect(() => Enqueue({ queue: 'mail', delay_ms: -1 })).toThrow('delay_ms is -1, expected whole milliseconds from 0');
  expect(() => Enqueue({ queue: 'mail', priority: 0.5 })).toThrow('priority is 0.5, expected a whole number');
});
