// The part of the Standard Schema interface, version 1, that is used here. It is declared, not imported: libraries
// implement the interface, and a package for it would be one more dependency.

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
