// What a function declares (SDK-2): the JSON Schema shown by console and CLI is taken from it where it can give one.
// `value-check.ts` checks values against it.

import { SvcError } from './errors.ts';
import type { JsonSchema } from './json-schema.ts';
import { isRecord } from './record.ts';
import type { StandardSchema } from './standard-schema.ts';

/**
 * What `input` and `output` of a function may be.
 *
 * @example
 * import type { Schema } from 'svc-sdk';
 *
 * export const order: Schema = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
 */
export type Schema = StandardSchema | JsonSchema;

/** The schema as JSON Schema; undefined when it is of a library that cannot tell. */
export function jsonSchemaOf(schema: Schema, side: 'input' | 'output'): JsonSchema | undefined {
  if (!isStandardSchema(schema)) return schema;
  const standard: unknown = Reflect.get(schema['~standard'], 'jsonSchema');
  return (
    // The sister interface of Standard Schema, then the method names in use before it.
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
