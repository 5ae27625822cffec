// Schemas of a function (SDK-2). The JSON Schema that console and CLI show is derived from a schema where the library
// can produce it. `value-check.ts` checks values.

import { SvcError } from '../calls/errors.ts';
import type { JsonSchema } from './json-schema.ts';
import { isRecord } from './record.ts';
import type { StandardSchema } from './standard-schema.ts';

/**
 * Types that `input` and `output` of a function accept.
 *
 * @example
 * import type { Schema } from 'svc-sdk';
 *
 * export const order: Schema = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
 */
export type Schema = StandardSchema | JsonSchema;

/** The schema as JSON Schema; undefined if its library cannot produce that. */
export function jsonSchemaOf(schema: Schema, side: 'input' | 'output'): JsonSchema | undefined {
  if (!isStandardSchema(schema)) return schema;
  const standard: unknown = Reflect.get(schema['~standard'], 'jsonSchema');
  return (
    // The companion interface of Standard Schema, then the method names that libraries used before it.
    askForJsonSchema(standard, side, [{ target: 'draft-2020-12' }]) ??
    askForJsonSchema(schema, 'toJSONSchema', []) ??
    askForJsonSchema(schema, 'toJsonSchema', [])
  );
}

export function isStandardSchema(schema: Schema): schema is StandardSchema {
  // Some libraries make callable schemas.
  const isHolder = (typeof schema === 'object' && schema !== null) || typeof schema === 'function';
  if (!isHolder || !('~standard' in schema)) return false;
  const standard: unknown = schema['~standard'];
  if (isRecord(standard) && standard.version === 1 && typeof standard.validate === 'function') return true;
  throw new SvcError('INVALID_ARGUMENTS', 'schema: ~standard is not version 1 of the Standard Schema interface');
}

function askForJsonSchema(holder: unknown, method: string, args: unknown[]): JsonSchema | undefined {
  if ((typeof holder !== 'object' || holder === null) && typeof holder !== 'function') return undefined;
  const ask: unknown = Reflect.get(holder, method);
  if (typeof ask !== 'function') return undefined;
  try {
    const answer: unknown = Reflect.apply(ask, holder, args);
    return typeof answer === 'boolean' || isRecord(answer) ? answer : undefined;
  } catch {
    // Libraries throw for schemas that JSON Schema cannot express; then there is none to show.
    return undefined;
  }
}
