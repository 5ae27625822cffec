// A user's value on its way through the engine, in the form in which it arrived: text of a JSON frame, or bytes of a
// binary one, which are JSON or packed. It is read only when code asks for its text.
//
// A payload of bytes is a view of the message it arrived in: it is valid until the callback for that message returns.

import { isUtf8 } from 'node:buffer';
import { asByteString, asRawJson, type ByteString, detach, RAW_NULL, type RawJson } from '../json/byte-string.ts';
import { skipSpace, skipValue } from '../json/json-scan.ts';
import { emptySections, OWN_SHAPE, readSections, referenceAt } from './compact-layout.ts';

/** A form of payloads other than JSON text. */
export interface PackedForm {
  readonly name: 'compact' | 'MessagePack' | 'reply';
  /** The value as JSON; undefined if the bytes are invalid, or JSON cannot express it. */
  textOf(bytes: Buffer, start: number, end: number): RawJson | undefined;
  /** Whether the value takes more than that many bytes as JSON, as far as this is cheap to find out. */
  isLongerThan(bytes: Buffer, start: number, end: number, bytesMax: number): boolean;
  /** What is wrong with the bytes, as far as that shows without reading the value. */
  offenceOf(bytes: Buffer, start: number, end: number): string | undefined;
  /** The value, for code that reads its parts. Absent where its text serves as well. */
  valueOf?(bytes: Buffer, start: number, end: number): unknown;
}

/** A value that its maker writes when it is sent, in a form of its own. It stays valid. */
export interface WrittenForm {
  readonly name: 'request';
  readonly byteLength: number;
  writeTo(target: Buffer, at: number): void;
  asText(): RawJson;
}

/** Writes JSON values in MessagePack. */
export interface MessagePackWriter extends PackedForm {
  /** Undefined if MessagePack cannot express the value. */
  write(value: unknown): Buffer | undefined;
}

export class Payload {
  readonly #bytes: Buffer | undefined;
  readonly #start: number;
  readonly #end: number;
  /** Set for packed bytes. */
  readonly #form: PackedForm | undefined;
  #text: RawJson | undefined;
  readonly #written: WrittenForm | undefined;
  /** The same value in MessagePack. */
  #messagePack: Payload | undefined;

  private constructor(
    bytes: Buffer | undefined,
    start: number,
    end: number,
    text: RawJson | undefined,
    form: PackedForm | undefined,
    written?: WrittenForm,
  ) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.#text = text;
    this.#form = form;
    this.#written = written;
  }

  static ofText(text: RawJson): Payload {
    return new Payload(undefined, 0, text.length, text, undefined);
  }

  static ofBytes(bytes: Buffer, start: number, end: number): Payload {
    return new Payload(bytes, start, end, undefined, undefined);
  }

  static ofPacked(bytes: Buffer, start: number, end: number, form: PackedForm): Payload {
    return new Payload(bytes, start, end, undefined, form);
  }

  static ofWritten(written: WrittenForm): Payload {
    return new Payload(undefined, 0, written.byteLength, undefined, undefined, written);
  }

  get form(): PackedForm['name'] | WrittenForm['name'] | 'JSON' {
    return this.#form?.name ?? this.#written?.name ?? 'JSON';
  }

  /** The value where its maker writes it. */
  get written(): WrittenForm | undefined {
    return this.#written;
  }

  get byteLength(): number {
    return this.#end - this.#start;
  }

  /** Whether the value takes more than that many bytes as JSON, as far as this is cheap to find out. */
  isLongerThan(bytesMax: number): boolean {
    if (this.byteLength > bytesMax) return true;
    if (this.#written !== undefined) return this.#written.asText().length > bytesMax;
    if (this.#bytes === undefined || this.#form === undefined) return false;
    return this.#form.isLongerThan(this.#bytes, this.#start, this.#end, bytesMax);
  }

  /** The same value in memory of its own: it outlives its message, and does not keep it in memory. */
  kept(): Payload {
    if (this.#written !== undefined) return this;
    if (this.#bytes === undefined) return Payload.ofText(asRawJson(detach(this.#text ?? RAW_NULL)));
    const bytes = Buffer.from(this.#bytes.subarray(this.#start, this.#end));
    return new Payload(bytes, 0, bytes.length, undefined, this.#form);
  }

  /** The value as text for a JSON frame; `undefined` if it cannot be read, or is nested too deep. */
  asText(): RawJson | undefined {
    if (this.#text === undefined && this.#bytes !== undefined) {
      this.#text =
        this.#form === undefined
          ? readJson(this.#bytes, this.#start, this.#end)
          : this.#form.textOf(this.#bytes, this.#start, this.#end);
    }
    return this.#text ?? this.#written?.asText();
  }

  /** Why it cannot be read, as far as the form can say it. */
  get offence(): string | undefined {
    if (this.#bytes === undefined || this.#form === undefined) return undefined;
    return this.#form.offenceOf(this.#bytes, this.#start, this.#end);
  }

  /** The value of a packed payload, for code that reads its parts; `undefined` if it cannot be read. */
  readPacked(): unknown {
    return this.#bytes === undefined ? undefined : this.#form?.valueOf?.(this.#bytes, this.#start, this.#end);
  }

  /** Reads the bytes of a packed payload; they are valid during the call. */
  visitPacked<Result>(read: (bytes: Buffer, start: number, end: number) => Result): Result | undefined {
    return this.#bytes === undefined || this.#form === undefined
      ? undefined
      : read(this.#bytes, this.#start, this.#end);
  }

  /** The same value as JSON; `undefined` if it cannot be read. */
  asJson(): Payload | undefined {
    if (this.form === 'JSON') return this;
    const text = this.asText();
    return text === undefined ? undefined : Payload.ofText(text);
  }

  /**
   * The same value for a client that reads MessagePack: JSON text stays as it is, and so does what MessagePack cannot
   * express. `undefined` if it cannot be read.
   */
  asMessagePack(form: MessagePackWriter): Payload | undefined {
    if (this.form === 'JSON' || this.form === 'MessagePack') return this;
    if (this.#messagePack === undefined) {
      const value = this.form === 'compact' ? this.readPacked() : undefined;
      const bytes = value === undefined ? undefined : form.write(value);
      this.#messagePack = bytes === undefined ? this.asJson() : Payload.ofPacked(bytes, 0, bytes.length, form);
    }
    return this.#messagePack;
  }

  /** The value as bytes of JSON: an unchecked view if it arrived as JSON; `undefined` if it cannot be read. */
  asJsonBytes(): Buffer | undefined {
    if (this.#bytes !== undefined && this.#form === undefined) return this.#bytes.subarray(this.#start, this.#end);
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

  /**
   * The first bytes of a value that arrived as JSON, unchecked and in memory of their own; `undefined` for a packed
   * one.
   */
  jsonBeginning(bytesMax: number): ByteString | undefined {
    if (this.form !== 'JSON') return undefined;
    if (this.#bytes === undefined) return asByteString(detach((this.#text ?? RAW_NULL).slice(0, bytesMax)));
    const end = Math.min(this.#end, this.#start + bytesMax);
    return asByteString(this.#bytes.toString('latin1', this.#start, end));
  }

  /** Writes the bytes at `at`; the target has room for `byteLength`. */
  writeTo(target: Buffer, at: number): void {
    if (this.#written !== undefined) this.#written.writeTo(target, at);
    else if (this.#bytes === undefined) target.write(this.#text ?? RAW_NULL, at, 'latin1');
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
