// Finds one member of a JSON object without reading the rest of it.

import { scanMembers } from '../frames/envelope.ts';
import { asRawJson, type RawJson } from './byte-string.ts';
import { skipSpace, skipString, skipValue } from './json-scan.ts';

/**
 * The first member of that name, if it is a text. `undefined` otherwise, and if the bytes before it are not a JSON
 * object. The bytes after it are not checked: this selects the reader of the object, and does not read the object.
 */
export function findTextMember(bytes: Uint8Array, name: string): string | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return undefined;
  do {
    at = skipSpace(bytes, at + 1);
    if (bytes[at] !== QUOTE) return undefined;
    const keyEnd = skipString(bytes, at + 1);
    if (keyEnd < 0) return undefined;
    const key = textAt(bytes, at, keyEnd);
    at = skipSpace(bytes, keyEnd);
    if (bytes[at] !== COLON) return undefined;
    const start = skipSpace(bytes, at + 1);
    const end = skipValue(bytes, start, 1);
    if (end < 0) return undefined;
    if (key === name) return bytes[start] === QUOTE ? textAt(bytes, start, end) : undefined;
    at = skipSpace(bytes, end);
  } while (bytes[at] === COMMA);
  return undefined;
}

/** The member of that name as it was written, the last one if there are two; `undefined` if there is none. */
export function rawMember(object: RawJson, name: string): RawJson | undefined {
  const bytes = Buffer.from(object, 'latin1');
  let found: RawJson | undefined;
  scanMembers(bytes, (keyStart, keyEnd, start, end) => {
    if (textAt(bytes, keyStart - 1, keyEnd + 1) === name) found = asRawJson(object.slice(start, end));
  });
  return found;
}

function textAt(bytes: Uint8Array, start: number, end: number): string {
  return String(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')));
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACE = 123;
