// The items of a JSON list as slices of its text.

import { skipSpace, skipValue } from '../../../protocol/json/json-scan.ts';

/** `json` has to be a valid list. */
export function arrayItems(json: Buffer): readonly Buffer[] {
  const items: Buffer[] = [];
  let at = skipSpace(json, skipSpace(json, 0) + 1);
  while (at < json.length && json[at] !== CLOSE_BRACKET) {
    const end = skipValue(json, at, 1);
    if (end < 0) throw new Error('A list of the engine is no valid JSON');
    items.push(json.subarray(at, end));
    at = skipSpace(json, end);
    if (json[at] === COMMA) at = skipSpace(json, at + 1);
  }
  return items;
}

const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
