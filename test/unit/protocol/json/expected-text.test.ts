import { expect, test } from 'vitest';
import { mismatchText } from '../../../../src/protocol/json/expected-text.ts';

test.each<[expected: string, value: unknown, text: string]>([
  ['string', 5, 'must be string, found number'],
  ['string', undefined, 'must be string, found nothing'],
  ['(null | string | undefined)', [], 'must be string, found array'],
  ['(number | string)', null, 'must be number or string, found null'],
  ['("asc" | "desc" | undefined)', 'up', 'must be "asc" or "desc", found string'],
  ['(Array<string> | null | undefined)', 'x', 'must be array, found string'],
  ['ReadonlyArray<SpanLink>', {}, 'must be array, found object'],
  ['readonly [key: string, value: string]', 1, 'must be array, found number'],
  ['PublishPayload', [], 'must be object, found array'],
  ['__type', undefined, 'must be object, found nothing'],
  ['(Record<string, string> | null | undefined)', true, 'must be object, found boolean'],
  ['(__type | __type.o1 | __type.o2 | null)', { type: 'basic' }, 'must be object of another shape'],
  ['undefined', 1, 'must be absent, found number'],
  ['(null | undefined)', 1, 'must be null, found number'],
])('the mismatch of %s and %j is described in words of JSON', (expected, value, text) => {
  expect(mismatchText(expected, value)).toBe(text);
});
