// JSON as text: answers are written around values that must not be parsed and printed again, and lists are cut into
// slices. The page shows the stored digits.

import { asByteString, type ByteString, quoted, type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';
import { skipSpace, skipValue } from '../../../protocol/json/json-scan.ts';

/** An answer that is already text. */
export class RawAnswer {
  readonly status: number;
  readonly text: ByteString;
  readonly headers: readonly string[];

  constructor(text: ByteString, { status = 200, headers = [] }: { status?: number; headers?: readonly string[] } = {}) {
    this.status = status;
    this.text = text;
    this.headers = headers;
  }
}

/** An object of `members`, and of `raw` members whose text is copied unchanged. */
export function objectText(
  members: Readonly<Record<string, unknown>>,
  raw: Readonly<Record<string, RawJson>>,
): RawJson {
  const parts = [
    ...Object.entries(members).map(([name, value]) => `${quoted(name)}:${rawJson(value)}`),
    ...Object.entries(raw).map(([name, text]) => `${quoted(name)}:${text}`),
  ];
  return `{${parts.join(',')}}` as RawJson;
}

export function joined(parts: readonly ByteString[], separator = ','): ByteString {
  return asByteString(parts.join(separator));
}

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
