// Which parked jobs a newly registered function wakes.

import { expect, test } from 'vitest';
import { AwaitedFunctions } from '../../../../src/modules/queue/awaited-functions.ts';

const byStranger = (_id: string, isTrustedWork: boolean): boolean => !isTrustedWork;

test('a function of a restricted connection wakes no trusted work, however often it is checked', () => {
  const awaited = new AwaitedFunctions();
  awaited.add('bill', true);
  expect([...awaited.takeOffered(byStranger)]).toEqual([]);
  expect(awaited.isEmpty).toBe(false);
  expect([...awaited.takeOffered(() => true)]).toEqual(['bill']);
  expect(awaited.isEmpty).toBe(true);
});

test('jobs of unknown origin are checked at once; those that turn out to be trusted work keep waiting', () => {
  const awaited = new AwaitedFunctions();
  awaited.addUnknown('bill');
  expect([...awaited.takeOffered(byStranger)]).toEqual(['bill']);
  const parked = new AwaitedFunctions();
  parked.add('bill', true);
  awaited.addAll(parked);
  expect([...awaited.takeOffered(byStranger)]).toEqual([]);
});
