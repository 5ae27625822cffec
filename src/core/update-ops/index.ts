// Update operations of state and streams: `set`, `merge`, `increment`, `decrement`, `append`, `remove`.
//
// Best effort (S2): operations run in their order on one value; one that fails is skipped and reported, the others
// apply. Pure, so that it runs wherever the store is: on its thread, or next to a shared store.

import type { JsonValue } from '../calls/exact-json.ts';
import { Refusal } from '../calls/refusal.ts';
import { applyOp } from './apply.ts';
import type { UpdateError } from './errors.ts';
import { kindOf } from './kinds.ts';
import { malformed, readOp } from './read-op.ts';
import { WorkingCopy } from './working-copy.ts';

export type { UpdateError } from './errors.ts';

export interface UpdateOutcome {
  /** `undefined`: there is still no value. Shares all unchanged parts with the old value. */
  readonly newValue: JsonValue | undefined;
  /** In the order of the operations; none is left out. */
  readonly errors: readonly UpdateError[];
  /** Operations without an error. */
  readonly appliedCount: number;
  /** Whether there is something to write and an event to fire: a `set` of an equal value counts, too. */
  readonly hasChanged: boolean;
}

const OPS_MAX = 100;

/** Throws a `Refusal` when the list itself, or the shape of an operation in it, is invalid. */
export function applyUpdates(oldValue: JsonValue | undefined, ops: unknown): UpdateOutcome {
  if (!Array.isArray(ops)) throw malformed('ops', `must be a list of operations, found ${kindOf(ops)}`);
  if (ops.length > OPS_MAX) {
    throw new Refusal('BAD_REQUEST', `Field 'ops' holds ${ops.length} operations, over the limit of ${OPS_MAX}`);
  }
  const copy = new WorkingCopy(oldValue);
  const errors: UpdateError[] = [];
  for (let index = 0; index < ops.length; index++) {
    const failure = applyOp(copy, readOp(ops[index], index));
    if (failure !== undefined) errors.push({ op_index: index, ...failure });
  }
  return { newValue: copy.value, errors, appliedCount: ops.length - errors.length, hasChanged: copy.isTouched };
}
