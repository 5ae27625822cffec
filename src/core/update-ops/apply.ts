// The six operations. Each changes the working copy, or returns why it cannot and leaves it unchanged. The checks of
// paths and of values to merge do not depend on the target, and are made in the order of the codes.

import type { JsonValue } from '../calls/exact-json.ts';
import { type Failure, failure, type UpdateOpName } from './errors.ts';
import { isDeeperThan, isList, isObject, kindOf } from './kinds.ts';
import type { Path, UpdateOp } from './read-op.ts';
import type { WorkingCopy } from './working-copy.ts';

const SEGMENTS_MAX = 32;
const SEGMENT_BYTES_MAX = 256;
const MERGE_KEYS_MAX = 1024;
const MERGE_LEVELS_MAX = 16;
/** A UTF-16 unit takes at most three bytes of UTF-8: short segments need not be measured. */
const SEGMENT_CHARS_SAFE = Math.floor(SEGMENT_BYTES_MAX / 3);
const SEGMENT_CHARS_SHOWN_MAX = 64;
const SEGMENTS_SHOWN_MAX = 8;

/** For the operations whose path is one field or nothing. */
function checkField(op: UpdateOpName, path: Path): Failure | undefined {
  const [segment] = path;
  return segment === undefined ? undefined : (checkLength(op, segment) ?? checkName(op, segment, path));
}

function checkListPath(op: 'merge' | 'append', path: Path, isListed: boolean): Failure | undefined {
  if (!isListed) return checkField(op, path);
  if (path.length > SEGMENTS_MAX) {
    const text = `Expected a path of at most ${SEGMENTS_MAX} segments, found ${path.length}`;
    return failure(`${op}.path.too_deep`, text);
  }
  const empty = path.indexOf('');
  if (empty >= 0) return failure(`${op}.path.empty_segment`, `Segment ${empty} of the path is empty`);
  return first(path, (segment) => checkLength(op, segment)) ?? first(path, (segment) => checkName(op, segment, path));
}

function checkMergeValue(value: JsonValue | undefined): Failure | undefined {
  if (!isObject(value)) {
    return failure('merge.value.not_an_object', `Expected an object to merge, found ${kindOf(value)}`);
  }
  const keys = Object.keys(value);
  if (keys.length > MERGE_KEYS_MAX) {
    const text = `Expected at most ${MERGE_KEYS_MAX} keys to merge, found ${keys.length}`;
    return failure('merge.value.too_many_keys', text);
  }
  const dangerous = keys.find(reachesPrototype);
  if (dangerous !== undefined) {
    return failure('merge.value.proto_polluted', `The key '${dangerous}' must not be merged`);
  }
  if (!isDeeperThan(value, MERGE_LEVELS_MAX)) return undefined;
  return failure('merge.value.too_deep', `The value to merge nests deeper than ${MERGE_LEVELS_MAX} levels`);
}

/** The path as messages show it. */
function placeOf(path: Path): string {
  if (path.length === 0) return 'at the root';
  const [field = ''] = path;
  if (path.length === 1) return `at path '${shortened(field)}'`;
  const shown = path.slice(0, SEGMENTS_SHOWN_MAX).map(shortened);
  return `at path ${JSON.stringify(shown)}${path.length > SEGMENTS_SHOWN_MAX ? '…' : ''}`;
}

function checkLength(op: UpdateOpName, segment: string): Failure | undefined {
  if (segment.length <= SEGMENT_CHARS_SAFE) return undefined;
  const bytes = Buffer.byteLength(segment);
  if (bytes <= SEGMENT_BYTES_MAX) return undefined;
  const text = `The segment '${shortened(segment)}' is ${bytes} bytes long, over the limit of ${SEGMENT_BYTES_MAX}`;
  return failure(`${op}.path.segment_too_long`, text);
}

function checkName(op: UpdateOpName, segment: string, path: Path): Failure | undefined {
  if (!reachesPrototype(segment)) return undefined;
  return failure(`${op}.path.proto_polluted`, `The name '${segment}' is not allowed in a path, found ${placeOf(path)}`);
}

function reachesPrototype(name: string): boolean {
  return name === '__proto__' || name === 'constructor' || name === 'prototype';
}

function first(path: Path, check: (segment: string) => Failure | undefined): Failure | undefined {
  for (const segment of path) {
    const found = check(segment);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shortened(segment: string): string {
  return segment.length <= SEGMENT_CHARS_SHOWN_MAX ? segment : `${segment.slice(0, SEGMENT_CHARS_SHOWN_MAX)}…`;
}

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
