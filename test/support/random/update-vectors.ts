// The table of update operations that every adapter has to pass: `test/vectors/update-operations.json`, read digit for
// digit. A very large value is written as a recipe:
//   {"$text": "a", "times": 257}               a text            {"$list": "s", "times": 33}   a list of equal texts
//   {"$keys": 1025, "with"?: "k"}              an object         {"$ops": 100}                 as many increments of n
//   {"$nested": 16}, {"$nestedLists": 16}      so many levels    {"$field": name, "is": value} an object of one field
//   {"$inside": "s", "levels": 32, "is": value}                  a value so many fields down

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonObject, type JsonValue, parseExactJson } from '../../../src/core/calls/exact-json.ts';
import { isList, isObject } from '../../../src/core/update-ops/kinds.ts';

export interface UpdateVector {
  readonly name: string;
  /** Absent: there is no value. */
  readonly old: JsonValue | undefined;
  readonly ops: JsonValue | undefined;
  /** Absent: there is still no value. */
  readonly new: JsonValue | undefined;
  readonly errors: readonly { readonly op_index: number; readonly code: string }[];
  /** Whether the store writes and sends an event. */
  readonly changed: boolean;
  /** The whole call is refused with this code, and a message with this text. */
  readonly refused: { readonly code: string; readonly naming: string } | undefined;
}

const FILE = join(import.meta.dirname, '../../vectors/update-operations.json');

export function readUpdateVectors(): UpdateVector[] {
  const table = parseExactJson(readFileSync(FILE, 'utf8'));
  if (!isList(table)) throw new Error(`${FILE} must hold a list`);
  return table.map((entry) => readVector(entry));
}

/** As JSON, own `__proto__` keys and digits included, in an order that does not depend on that of keys. */
export function canonicalJson(value: JsonValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  const sort = (_key: string, item: unknown): unknown => {
    const isMap = typeof item === 'object' && item !== null && !Array.isArray(item) && !JSON.isRawJSON(item);
    return isMap ? Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)) : item;
  };
  return JSON.stringify(value, sort);
}

function readVector(entry: JsonValue): UpdateVector {
  if (!isObject(entry)) throw new Error(`A vector is no object: ${JSON.stringify(entry)}`);
  const { name, old, ops, new: after, errors, changed, refused } = entry;
  const expected = isList(errors) ? errors : [];
  const made = cooked(ops);
  return {
    name: String(name),
    old: cooked(old),
    ops: made,
    new: cooked(after),
    // The file belongs to this repository: it has the shape of the interface.
    errors: expected as unknown as UpdateVector['errors'],
    changed: typeof changed === 'boolean' ? changed : isList(made) && expected.length < made.length,
    refused: refused as unknown as UpdateVector['refused'],
  };
}

function cooked<T extends JsonValue | undefined>(value: T): JsonValue | T {
  if (isList(value)) return value.map((item) => cooked(item));
  if (!isObject(value)) return value;
  return fromRecipe(value) ?? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cooked(item)]));
}

function fromRecipe(recipe: JsonObject): JsonValue | undefined {
  const { $text: text, $list: list, $keys: keys, $ops: ops, $nested: nested, $nestedLists: lists } = recipe;
  const { $field: field, $inside: inside, times, levels, is = null, with: extra } = recipe;
  if (typeof text === 'string') return text.repeat(Number(times));
  if (typeof list === 'string') return Array.from({ length: Number(times) }, () => list);
  if (typeof keys === 'number') return objectOf([...numbered(keys), ...(extra === undefined ? [] : [String(extra)])]);
  if (typeof ops === 'number') return Array.from({ length: ops }, () => ({ type: 'increment', path: 'n', by: 1 }));
  if (typeof nested === 'number') return inner({}, nested - 1, (value) => ({ x: value }));
  if (typeof lists === 'number') return inner([], lists - 1, (value) => [value]);
  if (field !== undefined) return { [String(cooked(field))]: cooked(is) };
  if (typeof inside === 'string') return inner(cooked(is), Number(levels), (value) => ({ [inside]: value }));
  return undefined;
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `k${index}`);
}

function objectOf(keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.map((key) => [key, 1]));
}

function inner(value: JsonValue, levels: number, wrap: (value: JsonValue) => JsonValue): JsonValue {
  return Array.from({ length: levels }).reduce<JsonValue>(wrap, value);
}
