import { expect, test } from 'vitest';
import { fillSkeleton, payloadSkeleton } from '../../../../src/cli/commands/call/edit-payload.ts';

test('[CLI-21] a skeleton has the required fields and the fields with a default', () => {
  const schema = {
    type: 'object',
    required: ['sku', 'to', 'tags', 'kind', 'gift', 'free'],
    properties: {
      sku: { type: 'string' },
      qty: { type: 'integer', default: 1 },
      note: { type: 'string' },
      kind: { enum: ['new', 'used'] },
      gift: { type: ['boolean', 'null'] },
      free: {},
      tags: { type: 'array', items: { type: 'string' } },
      to: { type: 'object', required: ['city'], properties: { city: { examples: ['Oslo'] }, zip: { type: 'string' } } },
    },
  };
  expect(payloadSkeleton(schema)).toEqual({
    ...{ sku: '', qty: 1, kind: 'new', gift: false, free: null, tags: [], to: { city: 'Oslo' } },
  });
});

test('[CLI-21] without a schema the skeleton is an empty object, and the payload may be any value', () => {
  expect([undefined, null, true, {}].map(payloadSkeleton)).toEqual([{}, {}, {}, {}]);
  expect(payloadSkeleton({ type: 'integer', minimum: 3 })).toBe(3);
});

test('[CLI-21] given values replace those of the skeleton', () => {
  expect(fillSkeleton({ sku: '', qty: 1 }, { sku: 'a1', note: 'x' })).toEqual({ sku: 'a1', qty: 1, note: 'x' });
  expect(fillSkeleton({ sku: '' }, [1])).toEqual([1]);
  expect(fillSkeleton(3, 4)).toBe(4);
});
