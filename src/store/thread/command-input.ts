// The input of a command, member by member. Values stay slices of the caller's text, so that what is stored is what was
// sent, digit by digit (S6), and a large value is never parsed.

import { Buffer, isUtf8 } from 'node:buffer';
import { Refusal } from '../../core/calls/refusal.ts';
import { scanMembers } from '../../protocol/frames/envelope.ts';
import { ID_BYTES_MAX } from '../../protocol/frames/limits.ts';

export class CommandInput {
  readonly #functionId: string;
  readonly #bytes: Buffer;
  /** For each member: key start, key end, value start, value end. */
  readonly #ranges: readonly number[];
  #hasEscapedNames = false;

  /** `functionId` is for the messages of refusals. Throws one for anything but a JSON object. */
  constructor(functionId: string, input: Uint8Array) {
    this.#functionId = functionId;
    this.#bytes = Buffer.isBuffer(input) ? input : Buffer.from(input.buffer, input.byteOffset, input.length);
    this.#ranges = this.#locate();
  }

  /** A required name, as the bytes of its UTF-8 form: never empty, no control characters, at most 256 bytes. */
  name(field: string): Buffer {
    const at = this.#find(field);
    if (at < 0) throw this.refusal(`field '${field}' must be string, found nothing`);
    const bytes = this.#plainName(at) ?? this.#checkedName(field, this.#valueAt(at));
    if (bytes.length === 0) throw this.#badName(field, 'must not be empty');
    if (bytes.length <= ID_BYTES_MAX) return bytes;
    throw this.#badName(field, `is ${bytes.length} bytes long, over the limit of ${ID_BYTES_MAX}`);
  }

  /** The text of a value; `undefined` if the member is absent. Of two equal members the last counts. */
  json(field: string): Buffer | undefined {
    const at = this.#find(field);
    return at < 0 ? undefined : this.#valueAt(at);
  }

  /** False if absent or null. */
  flag(field: string): boolean {
    const json = this.json(field)?.toString('latin1') ?? 'null';
    if (json === 'true') return true;
    if (json === 'false' || json === 'null') return false;
    throw this.refusal(`field '${field}' must be boolean, found ${kindOf(Buffer.from(json))}`);
  }

  /** `undefined` if absent or null. */
  wholeNumber(field: string, min: number, max: number): number | undefined {
    const text = this.json(field)?.toString('latin1') ?? 'null';
    if (text === 'null') return undefined;
    const value = Number(text);
    if (Number.isInteger(value) && value >= min && value <= max) return value;
    const found = Number.isNaN(value) ? kindOf(Buffer.from(text)) : text;
    throw this.refusal(`field '${field}' must be a whole number from ${min} to ${max}, found ${found}`);
  }

  refusal(what: string): Refusal {
    return new Refusal('deserialization_error', `Failed to deserialize input for ${this.#functionId}: ${what}`);
  }

  #locate(): readonly number[] {
    const bytes = this.#bytes;
    if (bytes.length === 0 || (bytes.length === NULL.length && bytes.equals(NULL))) return [];
    if (!isUtf8(bytes)) throw new Refusal('BAD_REQUEST', `The payload for ${this.#functionId} is not UTF-8 text`);
    const ranges: number[] = [];
    const offence = scanMembers(bytes, (keyStart, keyEnd, start, end) => {
      ranges.push(keyStart, keyEnd, start, end);
      for (let at = keyStart; at < keyEnd; at++) if (bytes[at] === BACKSLASH) this.#hasEscapedNames = true;
    });
    if (offence === undefined) return ranges;
    throw this.refusal(`the payload must be an object: ${offence.reason}`);
  }

  /** The index of that member in `#ranges`; -1 if there is none. */
  #find(field: string): number {
    const ranges = this.#ranges;
    for (let at = ranges.length - 4; at >= 0; at -= 4) {
      if (this.#isNamed(field, ranges[at] ?? 0, ranges[at + 1] ?? 0)) return at;
    }
    return -1;
  }

  #valueAt(at: number): Buffer {
    return this.#bytes.subarray(this.#ranges[at + 2], this.#ranges[at + 3]);
  }

  /** The text between the quotes, if it has no escapes and only ASCII. */
  #plainName(at: number): Buffer | undefined {
    const bytes = this.#bytes;
    const start = this.#ranges[at + 2] ?? 0;
    const end = (this.#ranges[at + 3] ?? 0) - 1;
    if (bytes[start] !== QUOTE) return undefined;
    for (let index = start + 1; index < end; index++) {
      const code = bytes[index] ?? 0;
      if (code === BACKSLASH || code >= 0x7f) return undefined;
    }
    return bytes.subarray(start + 1, end);
  }

  /** Compares the bytes in place, because it is called several times for each command. */
  #isNamed(field: string, start: number, end: number): boolean {
    const bytes = this.#bytes;
    if (this.#hasEscapedNames && bytes.subarray(start, end).includes(BACKSLASH)) {
      return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) === field;
    }
    if (end - start !== field.length) return false;
    for (let at = start; at < end; at++) if (bytes[at] !== field.charCodeAt(at - start)) return false;
    return true;
  }

  #checkedName(field: string, json: Buffer): Buffer {
    if (json[0] !== QUOTE) throw this.refusal(`field '${field}' must be string, found ${kindOf(json)}`);
    const text: unknown = JSON.parse(json.toString('utf8'));
    if (typeof text !== 'string') throw new Error('A JSON text that begins with a quote is a string');
    if (CONTROL.test(text)) throw this.#badName(field, 'must not contain control characters');
    if (HALF_PAIR.test(text)) throw this.#badName(field, 'must not contain half of a surrogate pair');
    return Buffer.from(text, 'utf8');
  }

  #badName(field: string, offence: string): Refusal {
    return new Refusal('BAD_REQUEST', `Field '${field}' of ${this.#functionId} ${offence}`);
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const NULL = Buffer.from('null');

function kindOf(json: Uint8Array): string {
  switch (json[0]) {
    case 123:
      return 'object';
    case 91:
      return 'array';
    case QUOTE:
      return 'string';
    case 116:
    case 102:
      return 'boolean';
    case 110:
      return 'null';
    default:
      return 'number';
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/** Half of a surrogate pair has no UTF-8 form: two such names could become one key. */
const HALF_PAIR = /\p{Surrogate}/u;
