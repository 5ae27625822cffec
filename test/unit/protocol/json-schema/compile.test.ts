import { describe, expect, test } from 'vitest';
import { compileJsonSchema } from '../../../../src/protocol/json-schema/compile.ts';
import { describeIssues } from '../../../../src/sdk/functions/checked-handler.ts';
import type { JsonSchema } from '../../../../src/sdk/functions/schema.ts';

/** The issues of the value, if any. */
const problems = (schema: JsonSchema, value: unknown) => describeIssues(compileJsonSchema(schema)(value));

const text = { type: 'string' };
const node = {
  type: 'object',
  properties: { value: text, children: { type: 'array', items: { $ref: '#' } } },
  required: ['value'],
};

/** As text, because the linter takes an object with a `then` for a promise. */
const conditional: JsonSchema = JSON.parse(
  '{ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 2 } }',
);

/** Schema, values that pass, values that do not. */
const TABLE: [name: string, schema: JsonSchema, good: unknown[], bad: unknown[]][] = [
  ['true', true, [1, null, {}], []],
  ['false', false, [], [1, null]],
  ['no keywords', {}, [1, null, 'x'], []],
  ['annotations only', { title: 't', format: 'email', default: 5, 'x-own': 1 }, ['no mail'], []],
  ['type', { type: 'object' }, [{}], [[], null, 'x']],
  ['several types', { type: ['string', 'null'] }, ['x', null], [5, {}]],
  ['integer', { type: 'integer' }, [1, -5, 2.0], [1.5, '1']],
  ['const', { const: { a: [1] } }, [{ a: [1] }], [{ a: [2] }, { a: [1], b: 1 }, null]],
  ['enum', { enum: ['a', 1, null] }, ['a', 1, null], ['b', '1']],
  ['number limits', { minimum: 1, maximum: 3 }, [1, 3, 'x'], [0.9, 3.1]],
  ['open number limits', { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [2], [1, 3]],
  ['multipleOf', { multipleOf: 0.1 }, [0.3, 0, -0.7, 'x'], [0.35]],
  ['lengths count code points', { minLength: 2, maxLength: 3 }, ['😀😀', 'abc', 5], ['😀', 'abcd']],
  ['pattern is not anchored', { pattern: '\\d\\p{L}' }, ['x1äy', 5], ['1-']],
  ['properties and required', node, [{ value: 'x' }, { value: 'x', more: 1 }], [{}, { value: 1 }]],
  ['a reference to itself', node, [{ value: 'x', children: [{ value: 'y' }] }], [{ value: 'x', children: [{}] }]],
  ['additionalProperties false', { properties: { a: text }, additionalProperties: false }, [{ a: 'x' }], [{ b: 1 }]],
  ['additionalProperties', { additionalProperties: text }, [{ a: 'x' }, 5], [{ a: 1 }]],
  [
    'patternProperties',
    { patternProperties: { '^n_': { type: 'number' } }, additionalProperties: text },
    [{ n_a: 1, b: 'x' }],
    [{ n_a: 'x' }, { b: 1 }],
  ],
  ['property counts', { minProperties: 1, maxProperties: 2 }, [{ a: 1 }, []], [{}, { a: 1, b: 2, c: 3 }]],
  ['propertyNames', { propertyNames: { maxLength: 2 } }, [{ ab: 1 }], [{ abc: 1 }]],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, [{ a: 1, b: 2 }, { c: 1 }], [{ a: 1 }]],
  ['dependentSchemas', { dependentSchemas: { a: { required: ['b'] } } }, [{ a: 1, b: 2 }, {}], [{ a: 1 }]],
  [
    'dependencies of draft 07',
    { dependencies: { a: ['b'], c: { required: ['d'] } } },
    [{ a: 1, b: 2 }, { c: 1, d: 2 }, {}],
    [{ a: 1 }, { c: 1 }],
  ],
  ['items', { items: text }, [['a'], [], 'x'], [['a', 1]]],
  ['prefixItems', { prefixItems: [text, { type: 'number' }], items: false }, [['a', 1], ['a']], [['a', 1, 2], [1]]],
  ['items of draft 07', { items: [text], additionalItems: { type: 'number' } }, [['a', 1]], [['a', 'b']]],
  ['item counts', { minItems: 1, maxItems: 2 }, [[1], 'x'], [[], [1, 2, 3]]],
  [
    'uniqueItems',
    { uniqueItems: true },
    [[1, '1', { a: 1 }, { a: 2 }]],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  ['contains', { contains: text }, [[1, 'x']], [[1], []]],
  ['contains, counted', { contains: text, minContains: 0, maxContains: 1 }, [[], ['x']], [['x', 'y']]],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2], [0, 4]],
  ['anyOf', { anyOf: [text, { type: 'number' }] }, ['x', 1], [null]],
  ['oneOf', { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 1]],
  ['not', { not: text }, [1], ['x']],
  ['if, then, else', conditional, ['ab', 2], ['a', 1]],
  ['references by pointer', { $ref: '#/$defs/a~1b', $defs: { 'a/b': text } }, ['x'], [1]],
  ['names every object has', { required: ['toString'], properties: { constructor: text } }, [{ toString: 1 }], [{}]],
];

describe('JSON Schema', () => {
  test.each(TABLE)('[SDK-2] %s', (_name, schema, good, bad) => {
    for (const value of good) expect(problems(schema, value), JSON.stringify(value)).toBe('');
    for (const value of bad) expect(problems(schema, value), JSON.stringify(value)).not.toBe('');
  });

  test('[SDK-2] a problem names the place and both sides', () => {
    const schema = { properties: { lines: { items: { properties: { sku: text }, required: ['sku', 'amount'] } } } };
    expect(problems(schema, { lines: [{ sku: 'a', amount: 1 }, { sku: 5 }] })).toBe(
      '/lines/1/amount is missing; /lines/1/sku must be string, is number',
    );
    expect(problems({ type: ['string', 'null'] }, [])).toBe('must be string or null, is array');
  });

  test('[SDK-2] of a value with many issues the first are listed, with their number', () => {
    const list = problems(
      { items: text },
      Array.from({ length: 12 }, (_, at) => at),
    );
    expect(list).toMatch(/^\/0 must be string, is number; .*; and 7 more$/);
  });

  test('[SDK-2] a property that is undefined counts as absent, as on the wire', () => {
    const schema = { properties: { a: text }, required: ['b'], additionalProperties: false };
    expect(problems(schema, { a: undefined, b: undefined, c: undefined })).toBe('/b is missing');
  });

  test('[SDK-2] a schema that refers to itself without end causes an issue, not a stack overflow', () => {
    expect(problems({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 1)).toContain('nested too deeply');
  });

  test('[SDK-2] a long list under one reference does not count as deep', () => {
    const schema = { items: { $ref: '#/$defs/text' }, $defs: { text } };
    expect(
      problems(
        schema,
        Array.from({ length: 2_000 }, () => 'x'),
      ),
    ).toBe('');
  });

  test('[SDK-2] a value that fits no alternative gets the issues of each, in their order', () => {
    const check = compileJsonSchema({ oneOf: [text, { required: ['a'] }] });
    expect(check({})).toEqual([
      {
        message: 'must match exactly one of the alternatives, matches 0',
        path: [],
        alternatives: [[{ message: 'must be string, is object', path: [] }], [{ message: 'is missing', path: ['a'] }]],
      },
    ]);
  });

  test('[SDK-2] an unsupported keyword is refused at registration, with its place', () => {
    const refused: [JsonSchema, string][] = [
      [{ type: 'text' }, 'JSON Schema at #: type is "text", expected one of null, boolean'],
      [{ properties: { a: { type: 5 } } }, 'at #/properties/a: type is 5'],
      [{ $ref: 'https://example.org/x' }, "$ref 'https://example.org/x' leads outside"],
      [{ $ref: '#/$defs/none' }, 'leads nowhere'],
      [{ $ref: '#/%FF' }, 'leads nowhere'],
      [{ anyOf: [{ unevaluatedProperties: false }] }, "at #/anyOf/0: keyword 'unevaluatedProperties' is not supported"],
      [{ pattern: '(' }, 'JSON Schema at #: Invalid regular expression'],
      [{ minimum: '1' }, 'minimum is "1", expected a number'],
      [{ required: 'a' }, 'required is not a list of property names'],
      [{ properties: [] }, 'properties is not an object'],
      [{ enum: 'a' }, 'enum is not a list'],
      [{ allOf: {} }, 'allOf is not a list of schemas'],
      [{ items: 5 }, 'at #/items: is 5, expected an object or a boolean'],
    ];
    for (const [schema, message] of refused) expect(() => compileJsonSchema(schema)).toThrow(message);
  });
});
