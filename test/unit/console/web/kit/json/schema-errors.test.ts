// The messages of a form made from a JSON Schema.

import { describe, expect, test } from 'vitest';
import { compileFormCheck } from '../../../../../../src/console/web/kit/json/logic/schema-errors.ts';

const text = { type: 'string' };
const card = { type: 'object', properties: { by: { const: 'card' }, number: text }, required: ['by', 'number'] };
const cash = { type: 'object', properties: { by: { const: 'cash' }, till: { type: 'integer' } }, required: ['by'] };

describe('the messages of a form', () => {
  test('[FUN-6] A message is at its field, in objects and arrays', () => {
    const { errorsOf } = compileFormCheck({
      properties: { to: { ...text, format: 'email' }, lines: { items: { properties: { sku: text } } }, note: text },
      required: ['to', 'note'],
    });
    const errors = errorsOf({ to: 'here', lines: [{ sku: 'a' }, { sku: 5 }] });
    expect(errors.at(['to'])).toBe('must have the format "email"');
    expect(errors.at(['lines', 1, 'sku'])).toBe('must be string, is number');
    expect(errors.at(['note'])).toBe('is missing');
    expect(errors.at(['lines', 0, 'sku'])).toBeUndefined();
  });

  test('[FUN-6] Of a oneOf, the fields show what the chosen alternative lacks, and nothing of the others', () => {
    const { errorsOf } = compileFormCheck({ properties: { pay: { oneOf: [card, cash] } } });
    const wrong = errorsOf({ pay: { by: 'cash', till: 'x' } });
    const chosen = wrong.ofAlternative(['pay'], 1);
    expect(chosen.at(['pay', 'till'])).toBe('must be integer, is string');
    expect(chosen.at(['pay', 'by'])).toBeUndefined();
    expect(chosen.at(['pay'])).toBeUndefined();
    const other = errorsOf({ pay: { by: 'card' } }).ofAlternative(['pay'], 0);
    expect(other.at(['pay', 'number'])).toBe('is missing');
    expect(
      errorsOf({ pay: { by: 'cash' } })
        .ofAlternative(['pay'], 1)
        .at(['pay']),
    ).toBeUndefined();
  });

  test('[FUN-6] An alternative inside an alternative is chosen in the same way', () => {
    const { errorsOf } = compileFormCheck({
      oneOf: [cash, { properties: { by: { const: 'both' }, rest: { anyOf: [card, cash] } }, required: ['by'] }],
    });
    const errors = errorsOf({ by: 'both', rest: { by: 'card', number: 5 } });
    const inner = errors.ofAlternative([], 1).ofAlternative(['rest'], 0);
    expect(inner.at(['rest', 'number'])).toBe('must be string, is number');
  });

  test('[FUN-6] Where no alternative is chosen, the message names what the nearest lacks', () => {
    const { errorsOf } = compileFormCheck({ anyOf: [text, { type: 'object', required: ['a', 'b'] }] });
    expect(errorsOf({ a: 1 }).at([])).toBe(
      'must match at least one of the alternatives. Of the nearest: /b is missing',
    );
    expect(errorsOf(5).at([])).toBe(
      'must match at least one of the alternatives. Of the nearest: must be string, is number',
    );
  });

  test('[FUN-6] A value that fits several alternatives is reported as such', () => {
    const { errorsOf } = compileFormCheck({ oneOf: [{ minimum: 1 }, { maximum: 3 }] });
    const errors = errorsOf(2);
    expect(errors.at([])).toBe('must match exactly one of the alternatives, matches 2');
    expect(errors.ofAlternative([], 0).at([])).toBe('must match exactly one of the alternatives, matches 2');
  });

  test('[FUN-6] What is not checked is listed, and the other parts are checked', () => {
    const { unchecked, errorsOf } = compileFormCheck({
      unevaluatedProperties: false,
      properties: { a: text, b: { $ref: 'https://example.org/b' }, c: { pattern: '(' }, d: { $ref: '#/%FF' }, e: 5 },
      $ref: '#/$defs/none',
    });
    expect(unchecked).toEqual([
      "JSON Schema at #: keyword 'unevaluatedProperties' is not supported",
      "JSON Schema at #: $ref '#/$defs/none' leads nowhere",
      "JSON Schema at #/properties/b: $ref 'https://example.org/b' leads outside, expected '#' or '#/…'",
      expect.stringMatching(/^JSON Schema at #\/properties\/c: Invalid regular expression/),
      "JSON Schema at #/properties/d: $ref '#/%FF' leads nowhere",
      'JSON Schema at #/properties/e: is 5, expected an object or a boolean',
    ]);
    expect(errorsOf({ a: 5 }).at(['a'])).toBe('must be string, is number');
    for (const schema of [null, 5, 'x', []]) expect(compileFormCheck(schema).unchecked).toHaveLength(1);
    expect(compileFormCheck(true).unchecked).toEqual([]);
  });
});
