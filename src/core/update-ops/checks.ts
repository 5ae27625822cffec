// The checks of paths and of values to merge that do not depend on the target. Made in the order of the codes.

import type { JsonValue } from '../calls/exact-json.ts';
import { type Failure, failure, type UpdateOpName } from './errors.ts';
import { isDeeperThan, isObject, kindOf } from './kinds.ts';
import type { Path } from './read-op.ts';

const SEGMENTS_MAX = 32;
const SEGMENT_BYTES_MAX = 256;
const MERGE_KEYS_MAX = 1024;
const MERGE_LEVELS_MAX = 16;
/** A UTF-16 unit takes at most three bytes of UTF-8: short segments need not be measured. */
const SEGMENT_CHARS_SAFE = Math.floor(SEGMENT_BYTES_MAX / 3);
const SEGMENT_CHARS_SHOWN_MAX = 64;
const SEGMENTS_SHOWN_MAX = 8;

/** For the operations whose path is one field or nothing. */
export function checkField(op: UpdateOpName, path: Path): Failure | undefined {
  const [segment] = path;
  return segment === undefined ? undefined : (checkLength(op, segment) ?? checkName(op, segment, path));
}

export function checkListPath(op: 'merge' | 'append', path: Path, isListed: boolean): Failure | undefined {
  if (!isListed) return checkField(op, path);
  if (path.length > SEGMENTS_MAX) {
    const text = `Expected a path of at most ${SEGMENTS_MAX} segments, found ${path.length}`;
    return failure(`${op}.path.too_deep`, text);
  }
  const empty = path.indexOf('');
  if (empty >= 0) return failure(`${op}.path.empty_segment`, `Segment ${empty} of the path is empty`);
  return first(path, (segment) => checkLength(op, segment)) ?? first(path, (segment) => checkName(op, segment, path));
}

export function checkMergeValue(value: JsonValue | undefined): Failure | undefined {
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
export function placeOf(path: Path): string {
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
