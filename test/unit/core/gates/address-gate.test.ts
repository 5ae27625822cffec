import { expect, test } from 'vitest';
import { ADDRESSES_MAX, AddressGate } from '../../../../src/core/gates/address-gate.ts';

test('Addresses that are remembered are bounded; when they are too many, new ones wait until some have left', () => {
  const gate = new AddressGate({ connectionsMax: 2, connectionsPerSecondMax: 2 });
  const entered = (from: number, count: number, nowMs: number): number => {
    let sum = 0;
    for (let at = from; at < from + count; at++) if (gate.enter(`2001:db8::${at.toString(16)}`, nowMs)) sum++;
    return sum;
  };
  expect(entered(0, ADDRESSES_MAX + 500, 0)).toBe(ADDRESSES_MAX);
  // A known address is still admitted.
  expect(gate.enter('2001:db8::0', 0)).toBe(true);
  for (let at = 0; at < 100; at++) gate.leave(`2001:db8::${(at + 1).toString(16)}`);
  gate.trim(1_000);
  expect(entered(ADDRESSES_MAX, 500, 1_000)).toBe(100);
});
