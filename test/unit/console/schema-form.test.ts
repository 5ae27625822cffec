// The model of a form made from a JSON Schema.

import { describe, expect, test } from 'vitest';
import { type SchemaNode, sampleOf, schemaAt } from '../../../src/console/web/logic/schema-at.ts';
import { fieldOf, numberFrom, withValueAt } from '../../../src/console/web/logic/schema-form.ts';
import { parseExactJson } from '../../../src/core/exact-json.ts';

const SCHEMA: SchemaNode = {
  $defs: { address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  type: 'object',
  properties: {
    email: { type: 'string', format: 'email' },
    count: { type: 'integer', minimum: 2 },
    home: { $ref: '#/$defs/address' },
    pay: {
      oneOf: [
        { type: 'object', properties: { by: { const: 'card' }, number: { type: 'string' } }, required: ['by'] },
        { type: 'object', properties: { by: { const: 'cash' } }, required: ['by'] },
      ],
    },
    odd: { type: ['string', 'number'] },
  },
  required: ['count', 'home', 'pay'],
};

describe('a form from a schema', () => {
  test('[FUN-6] each part becomes the field that fits it, and what is not understood stays JSON', () => {
    const kinds = Object.entries(SCHEMA.properties ?? {}).map(([name, schema]) => [name, fieldOf(SCHEMA, schema).kind]);
    expect(Object.fromEntries(kinds)).toEqual({
      email: 'text',
      count: 'number',
      home: 'object',
      pay: 'union',
      odd: 'json',
    });
  });

  test('[FUN-6] a first value has what is required, with its defaults', () => {
    expect(sampleOf(SCHEMA)).toEqual({ count: 2, home: { city: '' }, pay: { by: 'card' } });
  });

  test('[JSN-2] a change in one place leaves exact numbers elsewhere as they are', () => {
    const value = parseExactJson('{"id": 248480010225057793, "list": [1, 2]}');
    const changed = withValueAt(withValueAt(value, ['list', 0], undefined), ['count'], numberFrom('1e400'));
    expect(JSON.stringify(changed)).toBe('{"id":248480010225057793,"list":[2],"count":1e400}');
  });

  test('[JSN-1] a place in a value finds its part of the schema', () => {
    expect(schemaAt(SCHEMA, ['home', 'city'])?.type).toBe('string');
    expect(schemaAt(SCHEMA, ['pay', 'number'])?.type).toBe('string');
    expect(schemaAt(SCHEMA, ['nothing'])).toBeUndefined();
  });
});
