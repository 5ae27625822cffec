// Payloads written as key=value pairs (CLI-20): `sku=a1 qty:=2 tags[]=new address.city=Oslo`.
//
// Keys are set as own properties, so that `__proto__=x` is an ordinary field (X19).

import { usageFailure } from '../../kernel/failures.ts';
import { refuseNumberLoss } from '../../text/number-loss.ts';

type JsonObject = { [key: string]: unknown };

/** The payload with the pairs set over it. Without pairs, the payload unchanged, of any type. */
export function applyPairs(payload: unknown, pairs: readonly string[]): unknown {
  if (pairs.length === 0) return payload;
  if (!isObject(payload)) {
    throw usageFailure(`The payload is ${kindOf(payload)}; key=value pairs need an object.`);
  }
  const result = copyObject(payload);
  const ownLists = new WeakSet<unknown[]>();
  for (const text of pairs) setPair(result, readPair(text), ownLists);
  return result;
}

interface Pair {
  readonly text: string;
  readonly path: readonly string[];
  /** `key[]=`: adds to a list that starts empty. */
  readonly isListItem: boolean;
  readonly value: unknown;
}

function readPair(text: string): Pair {
  const equals = text.indexOf('=');
  if (equals < 0) {
    throw usageFailure(`'${text}' is not a pair: expected key=text, key:=json or key[]=text.`, PAIRS_HINT);
  }
  const isJson = text[equals - 1] === ':';
  const left = text.slice(0, isJson ? equals - 1 : equals);
  const isListItem = left.endsWith('[]');
  const path = (isListItem ? left.slice(0, -2) : left).split('.');
  if (path.includes('')) throw usageFailure(`'${text}' has an empty key: expected key=text or outer.inner=text.`);
  const valueText = text.slice(equals + 1);
  return { text, path, isListItem, value: isJson ? parsePairJson(text, valueText) : valueText };
}

function parsePairJson(text: string, json: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw usageFailure(`'${text}': '${json}' is not valid JSON.`, 'Write JSON after :=, or key=text for a text.');
  }
  refuseNumberLoss(json, `'${text}'`);
  return value;
}

function setPair(root: JsonObject, { text, path, isListItem, value }: Pair, ownLists: WeakSet<unknown[]>): void {
  let target = root;
  for (const [depth, key] of path.slice(0, -1).entries()) {
    const inner = Object.hasOwn(target, key) ? target[key] : {};
    if (!isObject(inner)) {
      const place = path.slice(0, depth + 1).join('.');
      throw usageFailure(`'${text}' does not fit: ${place} is ${kindOf(inner)}, not an object.`);
    }
    const copy = copyObject(inner);
    setOwn(target, key, copy);
    target = copy;
  }
  const last = path.at(-1) ?? '';
  if (!isListItem) {
    setOwn(target, last, value);
    return;
  }
  // The first item replaces the value that the payload had under the key, as any pair does; the others are appended.
  const present = Object.hasOwn(target, last) ? target[last] : undefined;
  if (Array.isArray(present) && ownLists.has(present)) {
    present.push(value);
    return;
  }
  const list = [value];
  ownLists.add(list);
  setOwn(target, last, list);
}

const PAIRS_HINT = 'Pass a whole payload with --payload <json>, --payload @file or --payload - for stdin.';

function setOwn(target: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
}

function copyObject(source: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(source)) setOwn(copy, key, value);
  return copy;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
