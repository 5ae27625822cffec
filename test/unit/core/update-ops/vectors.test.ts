import { expect, test } from 'vitest';
import { type JsonValue, parseExactJson } from '../../../../src/core/calls/exact-json.ts';
import { Refusal } from '../../../../src/core/calls/refusal.ts';
import { applyUpdates } from '../../../../src/core/update-ops/index.ts';
import { canonicalJson, readUpdateVectors, type UpdateVector } from '../../../support/random/update-vectors.ts';

const vectors = readUpdateVectors();

test.each(vectors.filter(({ refused }) => refused === undefined))('[S2] $name', (vector) => {
  const before = textOf(vector.old);
  const { newValue, errors, appliedCount, hasChanged } = applyUpdates(vector.old, vector.ops);
  expect(canonicalJson(newValue)).toEqual(canonicalJson(vector.new));
  expect(errors.map(({ op_index, code }) => ({ op_index, code }))).toEqual(vector.errors);
  expect(hasChanged).toBe(vector.changed);
  expect(appliedCount).toBe(countOf(vector) - errors.length);
  for (const { code, message, doc_url } of errors) {
    expect(doc_url).toBe(`docs/errors.md#${code}`);
    expect(message.length).toBeGreaterThan(10);
    expect(message.length).toBeLessThan(600);
  }
  expect(textOf(vector.old)).toBe(before);
});

test.each(vectors.filter(({ refused }) => refused !== undefined))(
  '[S2] All operations are refused: $name',
  (vector) => {
    const refusal = refusalOf(() => applyUpdates(vector.old, vector.ops));
    expect(refusal.code).toBe(vector.refused?.code);
    expect(refusal.message).toContain(vector.refused?.naming);
  },
);

test('[X19] No vector changes Object.prototype', () => {
  const plain: Record<string, unknown> = {};
  expect([plain.x, plain.a, plain.ok, Reflect.ownKeys(Object.prototype).length]).toEqual([
    undefined,
    undefined,
    undefined,
    PROTOTYPE_KEYS,
  ]);
});

const PROTOTYPE_KEYS = 12;

function textOf(value: JsonValue | undefined): string | undefined {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.stringify(parseExactJson(text));
}

function countOf({ ops }: UpdateVector): number {
  return Array.isArray(ops) ? ops.length : 0;
}

function refusalOf(call: () => unknown): Refusal {
  try {
    call();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('The call was not refused');
}
