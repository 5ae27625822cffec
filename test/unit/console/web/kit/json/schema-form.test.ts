// The model of a form made from a JSON Schema.

import { describe, expect, test } from 'vitest';
import { type SchemaNode, sampleOf, schemaAt } from '../../../../../../src/console/web/kit/json/logic/schema-at.ts';
import { fieldOf, numberFrom, withValueAt } from '../../../../../../src/console/web/kit/json/logic/schema-form.ts';
import { parseExactJson } from '../../../../../../src/core/calls/exact-json.ts';

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
  test('[FUN-6] Each part becomes the field that fits it, and parts that are not understood stay JSON', () => {
    const kinds = Object.entries(SCHEMA.properties ?? {}).map(([name, schema]) => [name, fieldOf(SCHEMA, schema).kind]);
    expect(Object.fromEntries(kinds)).toEqual({
      email: 'text',
      count: 'number',
      home: 'object',
      pay: 'union',
      odd: 'json',
    });
  });

  test('[FUN-6] A first value has the required members, with their defaults', () => {
    expect(sampleOf(SCHEMA)).toEqual({ count: 2, home: { city: '' }, pay: { by: 'card' } });
  });

  test('[JSN-2] A change in one place leaves exact numbers elsewhere unchanged', () => {
    const value = parseExactJson('{"id": 248480010225057793, "list": [1, 2]}');
    const changed = withValueAt(withValueAt(value, ['list', 0], undefined), ['count'], numberFrom('1e400'));
    expect(JSON.stringify(changed)).toBe('{"id":248480010225057793,"list":[2],"count":1e400}');
  });

  test('[JSN-1] A place in a value finds its part of the schema', () => {
    expect(schemaAt(SCHEMA, ['home', 'city'])?.type).toBe('string');
    expect(schemaAt(SCHEMA, ['pay', 'number'])?.type).toBe('string');
    expect(schemaAt(SCHEMA, ['nothing'])).toBeUndefined();
  });
});
