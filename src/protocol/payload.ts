// A user's value on its way through the engine, in the form in which it came: text of a JSON frame, or bytes of a
// binary one, JSON or compact. Whoever needs text asks for it; asked by nobody, it is never looked into.
//
// A payload of bytes is a view of the message it came in: it is valid until the callback that got the message returns.

import { isUtf8 } from 'node:buffer';
import { asRawJson, RAW_NULL, type RawJson, rawJson } from './byte-string.ts';
import type { CompactDecoder } from './compact-decode.ts';
import { emptyParts, OWN_SHAPE, readParts, referenceAt } from './compact-layout.ts';
import { skipSpace, skipValue } from './json-scan.ts';

export class Payload {
  readonly #bytes: Buffer | undefined;
  readonly #start: number;
  readonly #end: number;
  /** Of bytes in the compact form. */
  readonly #decoder: CompactDecoder | undefined;
  #text: RawJson | undefined;

  private constructor(
    bytes: Buffer | undefined,
    start: number,
    end: number,
    text: RawJson | undefined,
    decoder: CompactDecoder | undefined,
  ) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.#text = text;
    this.#decoder = decoder;
  }

  static ofText(text: RawJson): Payload {
    return new Payload(undefined, 0, text.length, text, undefined);
  }

  static ofBytes(bytes: Buffer, start: number, end: number): Payload {
    return new Payload(bytes, start, end, undefined, undefined);
  }

  static ofCompact(bytes: Buffer, start: number, end: number, decoder: CompactDecoder): Payload {
    return new Payload(bytes, start, end, undefined, decoder);
  }

  get isCompact(): boolean {
    return this.#decoder !== undefined;
  }

  get byteLength(): number {
    return this.#end - this.#start;
  }

  /** The value as text to be spliced into a JSON frame; `undefined` when it cannot be read, or is nested too deep. */
  asText(): RawJson | undefined {
    if (this.#text === undefined && this.#bytes !== undefined) {
      this.#text =
        this.#decoder === undefined
          ? readJson(this.#bytes, this.#start, this.#end)
          : convert(this.#decoder, this.#bytes, this.#start, this.#end);
    }
    return this.#text;
  }

  /** The value behind a compact payload, for who takes it apart; `undefined` when it cannot be read. */
  readCompact(): unknown {
    if (this.#bytes === undefined || this.#decoder === undefined) return undefined;
    return decode(this.#decoder, this.#bytes, this.#start, this.#end);
  }

  /** The same value as JSON; `undefined` when it cannot be read. */
  asJson(): Payload | undefined {
    if (this.#decoder === undefined) return this;
    const text = this.asText();
    return text === undefined ? undefined : Payload.ofText(text);
  }

  /** The value as bytes of JSON: a view where it came as such, not looked into; `undefined` when unreadable. */
  asJsonBytes(): Buffer | undefined {
    if (this.#bytes !== undefined && this.#decoder === undefined) return this.#bytes.subarray(this.#start, this.#end);
    const text = this.asText();
    return text === undefined ? undefined : Buffer.from(text, 'latin1');
  }

  /**
   * Of the compact form: shows the numbers of the shapes that whoever reads it must know. False where it does not hold,
   * as far as that can be seen without reading it.
   */
  visitShapes(visit: (shapeNumber: number) => boolean): boolean {
    if (this.#bytes === undefined || !readParts(this.#bytes, this.#start, this.#end, PARTS)) return false;
    for (let place = 0; place < PARTS.shapeCount; place++) {
      const number = referenceAt(this.#bytes, PARTS, place);
      if (number !== OWN_SHAPE && !visit(number)) return false;
    }
    return true;
  }

  /** Writes the bytes at `at`; the target has room for `byteLength`. */
  writeTo(target: Buffer, at: number): void {
    if (this.#bytes === undefined) target.write(this.#text ?? RAW_NULL, at, 'latin1');
    else this.#bytes.copy(target, at, this.#start, this.#end);
  }
}

const PARTS = emptyParts();

/** The text of exactly one value, without the white space around it; text frames carry UTF-8 and nothing else. */
function readJson(bytes: Buffer, start: number, end: number): RawJson | undefined {
  const value = bytes.subarray(start, end);
  if (!isUtf8(value)) return undefined;
  const first = skipSpace(value, 0);
  const behind = skipValue(value, first, 0);
  if (behind < 0 || skipSpace(value, behind) !== value.length) return undefined;
  return asRawJson(value.toString('latin1', first, behind));
}

function convert(decoder: CompactDecoder, bytes: Buffer, start: number, end: number): RawJson | undefined {
  const value = decode(decoder, bytes, start, end);
  return value === undefined ? undefined : rawJson(value);
}

function decode(decoder: CompactDecoder, bytes: Buffer, start: number, end: number): unknown {
  try {
    return decoder.decode(bytes, start, end);
  } catch {
    // Whoever asked for the text tells the sender that there is none; which byte it is helps nobody but us.
    return undefined;
  } finally {
    decoder.forget();
  }
}
