import { expect, test } from 'vitest';
import { registryText, typeText } from '../../../../src/cli/commands/call/types-generate.ts';

test.each<[unknown, string]>([
  [undefined, 'unknown'],
  [true, 'unknown'],
  [false, 'never'],
  [{ type: 'integer' }, 'number'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ enum: [] }, 'never'],
  [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
  [{ const: 'a' }, '"a"'],
  [{ type: 'array', items: { type: ['string', 'number'] } }, '(string | number)[]'],
  [{ type: 'object' }, '{ [key: string]: unknown }'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [key: string]: number }'],
  [
    { type: 'object', properties: { sku: { type: 'string' }, 'no-te': {} }, required: ['sku'] },
    '{ "sku": string; "no-te"?: unknown }',
  ],
  [{ anyOf: [{ type: 'string' }, { type: 'object', properties: { a: {} } }] }, 'string | { "a"?: unknown }'],
  [{ allOf: [{ type: 'string' }, {}] }, 'string'],
  [{ allOf: [{ type: ['string', 'null'] }, { const: 'a' }] }, '(string | null) & "a"'],
  [{ $defs: { 'a/b': { type: 'string' } }, $ref: '#/$defs/a~1b' }, 'string'],
  [{ properties: { next: { $ref: '#' } } }, '{ "next"?: { "next"?: unknown } }'],
])('%j is the type %s', (schema, type) => {
  expect(typeText(schema)).toBe(type);
});

test('a description cannot end its comment', () => {
  const text = registryText([{ id: 'a::b', description: 'x */ evil()\n//', request: {}, response: undefined }]);
  expect(text).toContain('/** x * / evil() // */\n    "a::b": { in: unknown; out: any };');
});

test('a schema whose references grow exponentially ends, with a comment on what is left out', () => {
  const steps = Array.from({ length: 64 }, (_, step) => {
    const next = { $ref: `#/$defs/${step + 1}` };
    return [step, { type: 'object', properties: { left: next, right: next } }];
  });
  const text = typeText({ $ref: '#/$defs/0', $defs: Object.fromEntries(steps) });
  expect(text.length).toBeLessThan(1_000_000);
  expect(text).toMatch(/more than 1000 references: the rest is unknown here \*\/$/);
});
