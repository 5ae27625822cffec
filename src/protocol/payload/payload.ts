// A user's value on its way through the engine, in the form in which it arrived: text of a JSON frame, or bytes of a
// binary one, JSON or compact. It is read only when code asks for its text.
//
// A payload of bytes is a view of the message it arrived in: it is valid until the callback for that message returns.

import { isUtf8 } from 'node:buffer';
import { asRawJson, RAW_NULL, type RawJson, rawJson } from '../json/byte-string.ts';
import { skipSpace, skipValue } from '../json/json-scan.ts';
import type { CompactDecoder } from './compact-decode.ts';
import { emptySections, OWN_SHAPE, readSections, referenceAt } from './compact-layout.ts';

export class Payload {
  readonly #bytes: Buffer | undefined;
  readonly #start: number;
  readonly #end: number;
  /** Set for bytes in the compact form. */
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

  /**
   * Whether the value takes more than that many bytes as JSON, as far as this is cheap to find out: the keys of a
   * compact payload are counted for every object.
   */
  isLongerThan(bytesMax: number): boolean {
    if (this.byteLength > bytesMax) return true;
    if (this.#decoder === undefined || this.readCompact() === undefined) return false;
    return this.byteLength + this.#decoder.keysLength > bytesMax;
  }

  /** The value as text for a JSON frame; `undefined` if it cannot be read, or is nested too deep. */
  asText(): RawJson | undefined {
    if (this.#text === undefined && this.#bytes !== undefined) {
      this.#text =
        this.#decoder === undefined
          ? readJson(this.#bytes, this.#start, this.#end)
          : convert(this.#decoder, this.#bytes, this.#start, this.#end);
    }
    return this.#text;
  }

  /** The value of a compact payload, for code that reads its parts; `undefined` if it cannot be read. */
  readCompact(): unknown {
    if (this.#bytes === undefined || this.#decoder === undefined) return undefined;
    return decode(this.#decoder, this.#bytes, this.#start, this.#end);
  }

  /** The same value as JSON; `undefined` if it cannot be read. */
  asJson(): Payload | undefined {
    if (this.#decoder === undefined) return this;
    const text = this.asText();
    return text === undefined ? undefined : Payload.ofText(text);
  }

  /** The value as bytes of JSON: an unchecked view if it arrived as JSON; `undefined` if it cannot be read. */
  asJsonBytes(): Buffer | undefined {
    if (this.#bytes !== undefined && this.#decoder === undefined) return this.#bytes.subarray(this.#start, this.#end);
    const text = this.asText();
    return text === undefined ? undefined : Buffer.from(text, 'latin1');
  }

  /**
   * For the compact form: visits the numbers of the shapes that its reader must know. Returns false if the payload is
   * invalid, as far as that shows without reading it.
   */
  visitShapes(visit: (shapeNumber: number) => boolean): boolean {
    if (this.#bytes === undefined || !readSections(this.#bytes, this.#start, this.#end, SECTIONS)) return false;
    for (let index = 0; index < SECTIONS.shapeCount; index++) {
      const number = referenceAt(this.#bytes, SECTIONS, index);
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

const SECTIONS = emptySections();

/** The text of exactly one value, without the white space around it; text frames carry UTF-8 only. */
function readJson(bytes: Buffer, start: number, end: number): RawJson | undefined {
  const value = bytes.subarray(start, end);
  if (!isUtf8(value)) return undefined;
  const first = skipSpace(value, 0);
  const after = skipValue(value, first, 0);
  if (after < 0 || skipSpace(value, after) !== value.length) return undefined;
  return asRawJson(value.toString('latin1', first, after));
}

function convert(decoder: CompactDecoder, bytes: Buffer, start: number, end: number): RawJson | undefined {
  const value = decode(decoder, bytes, start, end);
  return value === undefined ? undefined : rawJson(value);
}

function decode(decoder: CompactDecoder, bytes: Buffer, start: number, end: number): unknown {
  try {
    return decoder.decode(bytes, start, end);
  } catch {
    // The code that asked for the text answers the sender that there is none; the position of the error is not needed.
    return undefined;
  } finally {
    decoder.forget();
  }
}
