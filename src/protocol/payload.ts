// A user's JSON on its way through the engine, in the form in which it came: text of a JSON frame, or bytes of a
// binary one. Whoever needs the other form asks for it; asked by nobody, it is never looked into.
//
// A payload of bytes is a view of the message it came in: it is valid until the callback that got the message returns.

import { isUtf8 } from 'node:buffer';
import { asRawJson, RAW_NULL, type RawJson } from './byte-string.ts';
import { skipSpace, skipValue } from './json-scan.ts';

export class Payload {
  readonly #bytes: Buffer | undefined;
  readonly #start: number;
  readonly #end: number;
  #text: RawJson | undefined;

  private constructor(bytes: Buffer | undefined, start: number, end: number, text: RawJson | undefined) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.#text = text;
  }

  static ofText(text: RawJson): Payload {
    return new Payload(undefined, 0, text.length, text);
  }

  static ofBytes(bytes: Buffer, start: number, end: number): Payload {
    return new Payload(bytes, start, end, undefined);
  }

  get byteLength(): number {
    return this.#end - this.#start;
  }

  /** The value as text to be spliced into a JSON frame; `undefined` when it is not JSON, or nested too deep. */
  asText(): RawJson | undefined {
    if (this.#text === undefined && this.#bytes !== undefined)
      this.#text = readJson(this.#bytes, this.#start, this.#end);
    return this.#text;
  }

  /** Writes the bytes at `at`; the target has room for `byteLength`. */
  writeTo(target: Buffer, at: number): void {
    if (this.#bytes === undefined) target.write(this.#text ?? RAW_NULL, at, 'latin1');
    else this.#bytes.copy(target, at, this.#start, this.#end);
  }
}

/** The text of exactly one value, without the white space around it; text frames carry UTF-8 and nothing else. */
function readJson(bytes: Buffer, start: number, end: number): RawJson | undefined {
  const value = bytes.subarray(start, end);
  if (!isUtf8(value)) return undefined;
  const first = skipSpace(value, 0);
  const behind = skipValue(value, first, 0);
  if (behind < 0 || skipSpace(value, behind) !== value.length) return undefined;
  return asRawJson(value.toString('latin1', first, behind));
}
