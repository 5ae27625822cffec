// Schemas of a function (SDK-2): JSON Schema, or a schema of a library that follows the Standard Schema interface. That
// interface is declared, not imported: a package for it would be one more dependency. The JSON Schema that console and
// CLI show is derived from a schema where its library can produce it. `functions/checked-handler.ts` checks values.

import { isRecord } from '../../protocol/json/record.ts';
import { SvcError } from '../calls/errors.ts';

/**
 * A JSON Schema of draft 2020-12, or as draft 07 spells it. Formats are not checked, and a `$ref` leads only within the
 * schema. What cannot be kept (`unevaluatedProperties`, `unevaluatedItems`, `$dynamicRef`) is refused at registration.
 *
 * @example
 * import type { JsonSchema } from 'svc-sdk';
 *
 * export const order: JsonSchema = { type: 'object', properties: { sku: { type: 'string' } }, required: ['sku'] };
 */
export type JsonSchema = boolean | { readonly '~standard'?: never; readonly [keyword: string]: unknown };

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

/**
 * A schema of any library that follows the Standard Schema interface, such as zod, valibot or arktype.
 *
 * @example
 * import type { StandardSchema } from 'svc-sdk';
 *
 * export const sku: StandardSchema<string> = {
 *   '~standard': {
 *     version: 1,
 *     vendor: 'example',
 *     validate: (value) => (typeof value === 'string' ? { value } : { issues: [{ message: 'must be text' }] }),
 *   },
 * };
 */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>;
    /** Never present at run time: it only carries the types. */
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
}

/**
 * The result of a validation: the value, possibly converted, or its issues.
 *
 * @example
 * import type { StandardResult } from 'svc-sdk';
 *
 * export const refused: StandardResult<string> = { issues: [{ message: 'must be text', path: ['sku'] }] };
 */
export type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/**
 * One issue of a value, and its place.
 *
 * @example
 * import type { StandardIssue } from 'svc-sdk';
 *
 * export const issue: StandardIssue = { message: 'must be text', path: ['lines', 0, 'sku'] };
 */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of a value before validation: what callers pass, what handlers return. */
export type InputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input'];

/** The type of a value after validation: what handlers get, what callers receive. */
export type OutputOf<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output'];
