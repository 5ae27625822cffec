// Answers written as text around values that must not be parsed and printed again: the page shows the stored digits.

import { asByteString, type ByteString, quoted, type RawJson, rawJson } from '../../../protocol/json/byte-string.ts';

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
