// The six operations. Each changes the working copy, or returns why it cannot and leaves it unchanged.

import type { JsonValue } from '../calls/exact-json.ts';
import { checkField, checkListPath, checkMergeValue, placeOf } from './checks.ts';
import { type Failure, failure, type UpdateOpName } from './errors.ts';
import { isDeeperThan, isList, isObject, kindOf } from './kinds.ts';
import type { Path, UpdateOp } from './read-op.ts';
import type { WorkingCopy } from './working-copy.ts';

type Op<Type extends UpdateOpName> = Extract<UpdateOp, { type: Type }>;
type Counting = 'increment' | 'decrement';

/** With the two levels of a frame around it, clients can still parse and send back a value of this depth. */
const VALUE_LEVELS_MAX = 126;

export function applyOp(copy: WorkingCopy, op: UpdateOp): Failure | undefined {
  switch (op.type) {
    case 'set':
      return checkField(op.type, op.path) ?? checkTarget(copy, op.type, op.path) ?? set(copy, op);
    case 'merge':
      return checkListPath(op.type, op.path, op.isListed) ?? checkMergeValue(op.value) ?? merge(copy, op);
    case 'increment':
    case 'decrement':
      return checkField(op.type, op.path) ?? checkTarget(copy, op.type, op.path) ?? count(copy, op);
    case 'append':
      return checkListPath(op.type, op.path, op.isListed) ?? checkAppendDepth(op) ?? append(copy, op);
    case 'remove':
      return checkField(op.type, op.path) ?? checkTarget(copy, op.type, op.path) ?? remove(copy, op.path);
  }
}

/** Only an object has fields. A missing value becomes one. */
function checkTarget(copy: WorkingCopy, op: UpdateOpName, path: Path): Failure | undefined {
  if (path.length === 0 || copy.takesFields) return undefined;
  const text = `Expected an object to hold the field ${placeOf(path)}, found ${kindOf(copy.value)}`;
  return failure(`${op}.target_not_object`, text);
}

function set(copy: WorkingCopy, { path, value }: Op<'set'>): undefined {
  copy.write(path, value);
}

function merge(copy: WorkingCopy, { path, value }: Op<'merge'>): Failure | undefined {
  const isRootOpen = path.length === 0 && copy.value === null;
  if (!copy.takesFields && !isRootOpen) {
    const text = `Expected an object to merge into at the root, found ${kindOf(copy.value)}`;
    return failure('merge.target_not_object', text);
  }
  if (isObject(value)) copy.merge(path, value);
  return undefined;
}

function count(copy: WorkingCopy, { type, path, by }: Op<Counting>): Failure | undefined {
  const found = copy.read(path);
  // Only at the root does null count as missing: a field that is null exists.
  const isMissing = found === undefined || (found === null && path.length === 0);
  const start = isMissing ? 0 : found;
  if (typeof start !== 'number' && kindOf(start) !== 'number') {
    return failure(`${type}.not_number`, `Expected number ${placeOf(path)}, found ${kindOf(start)}`);
  }
  const sum = typeof start !== 'number' ? Number.NaN : type === 'increment' ? start + by : start - by;
  if (!Number.isFinite(sum) || (Number.isInteger(sum) && !Number.isSafeInteger(sum))) {
    const text = `Expected number ${placeOf(path)} to stay within ±(2^53−1), where whole numbers are exact`;
    return failure(`${type}.not_number`, text);
  }
  copy.write(path, sum);
  return undefined;
}

function append(copy: WorkingCopy, { path, value }: Op<'append'>): Failure | undefined {
  const offence = checkTarget(copy, 'append', path);
  if (offence !== undefined) return offence;
  const found = copy.read(path);
  if (isList(found)) copy.push(path, found, value);
  else if (typeof found === 'string' && typeof value === 'string') copy.write(path, found + value);
  else if (found === null || found === undefined) copy.write(path, beginning(path, found, value));
  else return mismatch(path, found, value);
  return undefined;
}

/** A text creates a text, except where a longer path had no value at its end. */
function beginning(path: Path, found: null | undefined, value: JsonValue): JsonValue {
  const beginsText = typeof value === 'string' && (found === null || path.length < 2);
  return beginsText ? value : [value];
}

function mismatch(path: Path, found: JsonValue, value: JsonValue): Failure {
  const text = `Expected array, string, null or nothing ${placeOf(path)}, found ${kindOf(found)}`;
  const isText = typeof found === 'string';
  return failure(
    'append.type_mismatch',
    isText ? `A string takes only a string; got ${kindOf(value)} ${placeOf(path)}` : text,
  );
}

function checkAppendDepth({ path, value }: Op<'append'>): Failure | undefined {
  if (!isDeeperThan(value, VALUE_LEVELS_MAX - path.length - 1)) return undefined;
  const text = `Expected at most ${VALUE_LEVELS_MAX} levels with the value ${placeOf(path)}`;
  return failure('append.value.too_deep', text);
}

function remove(copy: WorkingCopy, path: Path): undefined {
  const [field] = path;
  if (field !== undefined) copy.remove(field);
  else if (copy.value !== undefined) copy.write(path, null);
}
