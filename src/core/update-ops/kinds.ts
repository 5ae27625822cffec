// The type of a JSON value, in the words of messages.

import { isExactNumber, type JsonObject, type JsonValue } from '../calls/exact-json.ts';

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}

/** `Array.isArray` does not narrow to a readonly list. */
export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return 'array';
  return isExactNumber(value) ? 'number' : 'object';
}

/** Whether lists and objects in it, itself included, are nested more than that many levels deep. */
export function isDeeperThan(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return false;
  if (levels === 0) return true;
  const inside: readonly JsonValue[] = isList(value) ? value : Object.values(value);
  return inside.some((item) => isDeeperThan(item, levels - 1));
}
