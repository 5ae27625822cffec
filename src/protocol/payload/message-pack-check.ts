// Whether bytes are one MessagePack value that JSON can express. A library that reads MessagePack builds what the bytes
// claim, such as binary data, dates or a map with numbers as keys; and it recurses as deep as they nest. So the bytes
// are checked before it reads them.

import { isUtf8 } from 'node:buffer';
import { JSON_DEPTH_MAX } from '../frames/limits.ts';

/** Larger payloads are sent as JSON text, which another thread of the engine can check. */
export const MESSAGE_PACK_BYTES_MAX = 256 * 1024;

export class MessagePackCheck {
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;
  #checksTexts = false;
  #holdsLargeIntegers = false;

  /** Whether the last value holds integers that a JavaScript number cannot hold exactly. */
  get holdsLargeIntegers(): boolean {
    return this.#holdsLargeIntegers;
  }

  /**
   * What is wrong with the bytes from `start` to before `end`, and where; undefined if nothing is. `checksTexts`: texts
   * that are not UTF-8 are wrong too.
   */
  offenceOf(bytes: Uint8Array, start: number, end: number, checksTexts: boolean): string | undefined {
    const length = end - start;
    if (length > MESSAGE_PACK_BYTES_MAX) {
      return `${length} bytes; the limit is ${MESSAGE_PACK_BYTES_MAX}: send a larger payload as JSON text`;
    }
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.#checksTexts = checksTexts;
    this.#holdsLargeIntegers = false;
    try {
      const after = this.#value(start, 0);
      if (after < end) this.#refuse(after, 'bytes after the value');
      return undefined;
    } catch (error) {
      if (error instanceof Offence) return error.message;
      throw error;
    } finally {
      this.#bytes = NOTHING;
    }
  }

  /** Checks the value at `at`; returns where the next one begins. */
  #value(at: number, depth: number): number {
    if (at >= this.#end) this.#refuse(at, 'the end of the payload in the middle of a value');
    const tag = this.#bytes[at] ?? 0;
    const next = at + 1;
    if (tag < 0x80 || tag >= 0xe0) return next;
    if (tag < 0x90) return this.#map(next, tag & 0x0f, depth);
    if (tag < 0xa0) return this.#array(next, tag & 0x0f, depth);
    if (tag < 0xc0) return this.#text(next, tag & 0x1f);
    switch (tag) {
      case 0xc0:
      case 0xc2:
      case 0xc3:
        return next;
      case 0xca:
        return this.#float(next, 4, 0x80);
      case 0xcb:
        return this.#float(next, 8, 0xf0);
      case 0xcc:
      case 0xd0:
        return this.#skip(next, 1);
      case 0xcd:
      case 0xd1:
        return this.#skip(next, 2);
      case 0xce:
      case 0xd2:
        return this.#skip(next, 4);
      case 0xcf:
        return this.#longInteger(next, this.#number(next, 4));
      case 0xd3:
        return this.#longInteger(next, this.#number(next, 4) | 0);
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#text(next + widthOf(tag), this.#number(next, widthOf(tag)));
      case 0xdc:
        return this.#array(next + 2, this.#number(next, 2), depth);
      case 0xdd:
        return this.#array(next + 4, this.#number(next, 4), depth);
      case 0xde:
        return this.#map(next + 2, this.#number(next, 2), depth);
      case 0xdf:
        return this.#map(next + 4, this.#number(next, 4), depth);
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#refuse(at, 'binary data, which JSON does not have: send it as text, or over a channel');
      default:
        return this.#refuse(at, 'an extension type, such as a timestamp, which JSON does not have: send it as text');
    }
  }

  #array(start: number, length: number, depth: number): number {
    this.#nest(start, length, depth);
    let at = start;
    for (let left = length; left > 0; left--) at = this.#value(at, depth + 1);
    return at;
  }

  #map(start: number, length: number, depth: number): number {
    this.#nest(start, 2 * length, depth);
    let at = start;
    for (let left = length; left > 0; left--) at = this.#value(this.#key(at), depth + 1);
    return at;
  }

  #nest(at: number, values: number, depth: number): void {
    if (depth >= JSON_DEPTH_MAX) this.#refuse(at, `nesting of more than ${JSON_DEPTH_MAX} levels`);
    // Each value takes a byte at least.
    if (values > this.#end - at) this.#refuse(at, `${values} values in ${this.#end - at} bytes`);
  }

  #key(at: number): number {
    const tag = this.#bytes[at] ?? 0;
    const isShort = tag >= 0xa0 && tag < 0xc0;
    if (!isShort && (tag < 0xd9 || tag > 0xdb)) this.#refuse(at, 'a key that is not text');
    const end = this.#value(at, 0);
    const start = at + 1 + (isShort ? 0 : widthOf(tag));
    if (end - start === PROTOTYPE.length && PROTOTYPE.every((unit, index) => this.#bytes[start + index] === unit)) {
      this.#refuse(at, 'the key __proto__: send the payload as JSON text');
    }
    return end;
  }

  #text(start: number, length: number): number {
    const end = this.#skip(start, length);
    if (this.#checksTexts && !isUtf8(this.#bytes.subarray(start, end))) this.#refuse(start, 'text that is not UTF-8');
    return end;
  }

  /** `mask`: the bits of the second byte that belong to the exponent, which are all set in what is not finite. */
  #float(start: number, width: number, mask: number): number {
    const end = this.#skip(start, width);
    const isInfinite = ((this.#bytes[start] ?? 0) & 0x7f) === 0x7f && ((this.#bytes[start + 1] ?? 0) & mask) === mask;
    if (isInfinite) this.#refuse(start - 1, 'a number that is not finite, which JSON does not have: send null');
    return end;
  }

  #longInteger(start: number, high: number): number {
    if (high >= HIGH_EXACT_MAX || high < -HIGH_EXACT_MAX) this.#holdsLargeIntegers = true;
    return this.#skip(start, 8);
  }

  #number(start: number, width: number): number {
    this.#skip(start, width);
    let number = 0;
    for (let at = start; at < start + width; at++) number = number * 256 + (this.#bytes[at] ?? 0);
    return number;
  }

  #skip(start: number, bytes: number): number {
    if (start + bytes > this.#end) this.#refuse(start, 'the end of the payload in the middle of a value');
    return start + bytes;
  }

  #refuse(at: number, what: string): never {
    throw new Offence(`at byte ${at - this.#start}: ${what}`);
  }
}

class Offence extends Error {}

const NOTHING = new Uint8Array(0);
const PROTOTYPE = [...'__proto__'].map((letter) => letter.charCodeAt(0));
/** The high half of 2^53. */
const HIGH_EXACT_MAX = 2 ** 21;

/** Of the length of a text: 0xd9, 0xda and 0xdb take one, two and four bytes. */
function widthOf(tag: number): number {
  return 1 << (tag - 0xd9);
}
