import { describe, expect, test } from 'vitest';
import { examplePairs, parametersOf } from '../../../../src/cli/commands/call/function-details.ts';

const SCHEMA = {
  type: 'object',
  required: ['sku', 'to', 'tags', 'lines'],
  properties: {
    sku: { type: 'string', description: 'Article number' },
    qty: { type: 'integer', default: 1 },
    size: { enum: ['s', 'l'] },
    to: {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' }, zip: { type: ['string', 'null'] } },
    },
    tags: { type: 'array', items: { type: 'string' } },
    lines: { type: 'array', items: { type: 'object' } },
  },
};

describe('a readable schema', () => {
  test('[CLI-23] every parameter has a name, a type, whether it is required, and its description', () => {
    expect(parametersOf(SCHEMA)).toEqual([
      { name: 'sku', type: 'string', isRequired: true, text: 'Article number' },
      { name: 'qty', type: 'integer', isRequired: false, text: 'Default 1.' },
      { name: 'size', type: 'any', isRequired: false, text: 'One of "s", "l".' },
      { name: 'to.city', type: 'string', isRequired: true, text: '' },
      { name: 'to.zip', type: 'string or null', isRequired: false, text: '' },
      { name: 'tags[]', type: 'list of string', isRequired: true, text: '' },
      { name: 'lines', type: 'list of object', isRequired: true, text: '' },
    ]);
  });

  test('[CLI-20] the example call has a pair for every required parameter', () => {
    expect(examplePairs(parametersOf(SCHEMA))).toEqual(['sku=text', 'to.city=text', 'tags[]=text', 'lines:=[]']);
  });

  test.each([undefined, null, true, 'text', [], {}, { properties: [] }, { properties: { a: 1 } }])(
    '[CLI-23] the schema %j gives no parameters and no error',
    (schema) => {
      expect(parametersOf(schema)).toEqual([]);
    },
  );
});
