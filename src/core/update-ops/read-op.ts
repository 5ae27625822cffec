// The shape of one operation. A call with an operation of the wrong shape is refused as a whole: unlike an operation
// that does not fit the value, it can never have worked.

import type { JsonValue } from '../calls/exact-json.ts';
import { Refusal } from '../calls/refusal.ts';
import { nearestWords } from '../config-fields/nearest.ts';
import { UPDATE_OP_NAMES } from './errors.ts';
import { kindOf } from './kinds.ts';

/** No path, or an empty one, is the value itself; a text is one field of it; a list leads inwards. */
export type Path = readonly string[];

export type UpdateOp =
  | { readonly type: 'set'; readonly path: Path; readonly value: JsonValue }
  | { readonly type: 'merge'; readonly path: Path; readonly isListed: boolean; readonly value: JsonValue | undefined }
  | { readonly type: 'increment' | 'decrement'; readonly path: Path; readonly by: number }
  | { readonly type: 'append'; readonly path: Path; readonly isListed: boolean; readonly value: JsonValue }
  | { readonly type: 'remove'; readonly path: Path };

/** As received: valid JSON of any shape. */
interface Given {
  readonly type?: JsonValue;
  readonly path?: JsonValue;
  readonly value?: JsonValue;
  readonly by?: JsonValue;
}

export function readOp(given: unknown, index: number): UpdateOp {
  if (!isGiven(given)) throw malformed(`ops[${index}]`, `must be an operation, found ${kindOf(given)}`);
  const { type } = given;
  switch (type) {
    case 'set':
      return { type, path: readField(given, index), value: given.value ?? null };
    case 'merge':
      return { type, path: readPath(given, index), isListed: Array.isArray(given.path), value: given.value };
    case 'increment':
    case 'decrement':
      return { type, path: readField(given, index), by: readBy(given, index) };
    case 'append':
      if (given.value === undefined) throw malformed(`ops[${index}].value`, 'must be given for append, found nothing');
      return { type, path: readPath(given, index), isListed: Array.isArray(given.path), value: given.value };
    case 'remove':
      return { type, path: readField(given, index) };
    default:
      throw malformed(`ops[${index}].type`, `must be one of ${UPDATE_OP_NAMES.join(', ')}, ${foundType(type)}`);
  }
}

export function malformed(field: string, offence: string): Refusal {
  return new Refusal('deserialization_error', `Field '${field}' ${offence}`);
}

const ROOT: Path = [];

/** A path that cannot lead deeper than one field. */
function readField({ type, path }: Given, index: number): Path {
  if (path === undefined || path === '') return ROOT;
  if (typeof path === 'string') return [path];
  // A null is a mistake that would replace or remove the whole value.
  throw malformed(`ops[${index}].path`, `must be the name of a field for ${type}, found ${kindOf(path)}`);
}

function readPath({ type, path }: Given, index: number): Path {
  if (path === undefined || path === null || path === '') return ROOT;
  if (typeof path === 'string') return [path];
  if (!isTexts(path)) {
    throw malformed(`ops[${index}].path`, `must be a field or a list of segments for ${type}, ${foundInPath(path)}`);
  }
  return path;
}

function readBy({ type, by }: Given, index: number): number {
  if (typeof by === 'number' && Number.isSafeInteger(by)) return by;
  const isFraction = typeof by === 'number' && !Number.isInteger(by);
  const found = isFraction ? `the fraction ${by}` : kindOf(by) === 'number' ? 'one beyond it' : kindOf(by);
  throw malformed(`ops[${index}].by`, `must be a whole number within ±(2^53−1) for ${type}, found ${found}`);
}

function foundType(type: JsonValue | undefined): string {
  if (typeof type !== 'string') return `found ${kindOf(type)}`;
  const [meant] = nearestWords(type.slice(0, TYPE_CHARS_SHOWN_MAX), UPDATE_OP_NAMES);
  const found = `found '${type.slice(0, TYPE_CHARS_SHOWN_MAX)}'`;
  return meant === undefined ? found : `${found}; did you mean '${meant}'?`;
}

function foundInPath(path: JsonValue): string {
  if (!Array.isArray(path)) return `found ${kindOf(path)}`;
  const at = path.findIndex((segment) => typeof segment !== 'string');
  return `found ${kindOf(path[at])} as segment ${at}`;
}

function isGiven(value: unknown): value is Given {
  return kindOf(value) === 'object';
}

function isTexts(value: JsonValue): value is readonly string[] {
  return Array.isArray(value) && value.every((segment) => typeof segment === 'string');
}

const TYPE_CHARS_SHOWN_MAX = 32;
