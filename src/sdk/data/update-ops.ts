// Functions that build update operations in the form of the wire.

import { SvcError } from '../calls/errors.ts';

/**
 * One step of an update. `path` is one field of the value, or '' for the value itself; for `merge` and `append` it may
 * be a list of nested fields. Dots have no meaning.
 *
 * @example
 * import { ops, type UpdateOp } from 'svc-sdk';
 *
 * export const visit: UpdateOp[] = [ops.increment('visits'), ops.set('last_seen', Date.now())];
 */
export type UpdateOp =
  | { readonly type: 'set'; readonly path: string; readonly value: unknown }
  | { readonly type: 'merge' | 'append'; readonly path: string | readonly string[]; readonly value: unknown }
  | { readonly type: 'increment' | 'decrement'; readonly path: string; readonly by: number }
  | { readonly type: 'remove'; readonly path: string };

/**
 * Why one operation of an update was skipped.
 *
 * @example
 * import { ops, registerWorker, type UpdateError } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * const { errors } = await svc.state.update('users', 'ann', ops.append('name', 5));
 * const codes = errors.map((error: UpdateError) => error.code);
 * console.log(codes);
 */
export interface UpdateError {
  /** The index of the operation, from 0. */
  readonly op_index: number;
  readonly code: string;
  readonly message: string;
  readonly doc_url?: string;
}

/**
 * Builds the operations of an update. They run in order, in one step; one that fails is skipped and reported.
 *
 * @example
 * import { ops, registerWorker } from 'svc-sdk';
 *
 * const svc = registerWorker();
 * await svc.state.update(
 *   'users',
 *   'ann',
 *   ops.increment('visits'),
 *   ops.merge(['address', 'home'], { city: 'Bonn' }),
 *   ops.append('tags', 'vip'),
 *   ops.remove('draft'),
 * );
 */
export const ops = {
  /** Sets a field; with '' it replaces the whole value. */
  set: (path: string, value: unknown): UpdateOp => ({ type: 'set', path, value: givenTo('set', value) }),
  /** Adds fields and overwrites those of the same name. Missing objects on the path are created. */
  merge: (path: string | readonly string[], value: object): UpdateOp => ({ type: 'merge', path, value }),
  /** Adds a whole number; a missing field starts at 0. */
  increment: (path: string, by = 1): UpdateOp => ({ type: 'increment', path, by }),
  decrement: (path: string, by = 1): UpdateOp => ({ type: 'decrement', path, by }),
  /** Appends an element to a list, or a text to a text; a missing list or text is created. */
  append: (path: string | readonly string[], value: unknown): UpdateOp => ({
    type: 'append',
    path,
    value: givenTo('append', value),
  }),
  /** Removes a field; with '' the whole value becomes null. */
  remove: (path: string): UpdateOp => ({ type: 'remove', path }),
} as const;

/** JSON has no undefined: without this check the mistake would store null, or be refused without a line number. */
function givenTo(op: string, value: unknown): unknown {
  if (value === undefined) throw new SvcError('INVALID_ARGUMENTS', `ops.${op}: the value is undefined`);
  return value;
}
