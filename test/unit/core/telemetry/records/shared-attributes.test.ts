// Attributes that are equal are kept once, and no others.

import { expect, test } from 'vitest';
import type { Attributes } from '../../../../../src/core/telemetry/records/records.ts';
import { sharedAttributes } from '../../../../../src/core/telemetry/records/shared-attributes.ts';

test('Spans with equal attributes share one list', () => {
  const first: Attributes = [['function_id', 'shared::one']];
  expect(sharedAttributes(first)).toBe(first);
  expect(sharedAttributes([['function_id', 'shared::one']])).toBe(first);
});

test('Whatever the attributes of other spans are, a span keeps its own', () => {
  // Of few letters and the separator of the cache: different lists have the same text.
  const texts = ['', 'a', '\0', 'a\0', '\0a', 'a\0a'];
  const pairs = texts.flatMap((key) => texts.map((value) => [key, value] as const));
  const lists: Attributes[] = [[], ...pairs.flatMap((one) => [[one], ...pairs.map((other) => [one, other])])];
  const shared = lists.map(sharedAttributes);
  expect(shared).toEqual(lists);
  expect(lists.map(sharedAttributes)).toEqual(lists);
});
