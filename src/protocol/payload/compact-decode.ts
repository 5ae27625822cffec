// The compact form of a payload (compact-layout.ts) → values. The bytes may come from any client: invalid ones are
// refused with an error that says where, and no value is larger than a small multiple of its bytes.

import { JSON_DEPTH_MAX } from '../frames/limits.ts';
import { TextSlices, type TextSource } from '../json/text-memory.ts';
import {
  COMPACT_BYTES_MAX,
  type CompactSections,
  emptySections,
  OWN_SHAPE,
  readSections,
  referenceAt,
  TAG,
  TEXT_UNITS_IN_TAG,
} from './compact-layout.ts';
import { type Shape, shapeOf } from './shape.ts';

const NOTHING = new Uint8Array(0);
const NO_VIEW = new DataView(NOTHING.buffer);

export class CompactDecoder {
  readonly #shapeOf: (number: number) => Shape | undefined;
  readonly #source: TextSource;
  readonly #sections: CompactSections = emptySections();
  /** The shapes of the current payload, by index. */
  readonly #shapes: Shape[] = [];
  readonly #narrow: TextSlices;
  readonly #wide: TextSlices;
  /** The own key lists of the last payload that had any: they are often the same until they have numbers. */
  #ownText = '';
  #ownShapes: readonly Shape[] = [];
  #bytes: Uint8Array = NOTHING;
  #view: DataView = NO_VIEW;
  #at = 0;
  #end = 0;
  #depth = 0;
  #mayHoldReference = false;
  /** The length of the keys as JSON. */
  #keysLength = 0;

  /** `shapeByNumber` returns the announced shape of a number. */
  constructor(source: TextSource, shapeByNumber: (number: number) => Shape | undefined) {
    this.#source = source;
    this.#shapeOf = shapeByNumber;
    this.#narrow = new TextSlices(source, 1);
    this.#wide = new TextSlices(source, 2);
  }

  /** The value in the bytes from `start` to before `end`. Throws if they are invalid. */
  decode(bytes: Uint8Array, start: number, end: number): unknown {
    const sections = this.#sections;
    if (!readSections(bytes, start, end, sections))
      throw new Error(`not a compact payload of at most ${COMPACT_BYTES_MAX} bytes`);
    this.#readShapes(bytes, sections);
    this.#narrow.open(bytes, sections.narrowStart, sections.wideStart);
    this.#wide.open(bytes, sections.wideStart, sections.ownStart);
    if (this.#bytes.buffer !== bytes.buffer) this.#view = new DataView(bytes.buffer);
    this.#bytes = bytes;
    this.#at = start;
    this.#end = sections.narrowStart;
    this.#depth = 0;
    this.#keysLength = 0;
    const value = this.#value();
    if (this.#at !== this.#end) throw new Error(`the structure continues after its value, at byte ${this.#at - start}`);
    if (!this.#narrow.isDone || !this.#wide.isDone) throw new Error('there is more text than the structure uses');
    return value;
  }

  /** Whether an object of the last payload may be a reference to an end of a channel. */
  get mayHoldReference(): boolean {
    return this.#mayHoldReference;
  }

  /** The length of the last payload's keys as JSON: a key list is written once, and may apply to many objects. */
  get keysLength(): number {
    return this.#keysLength;
  }

  /** Releases the message of the last payload. */
  forget(): void {
    this.#bytes = NOTHING;
    this.#view = NO_VIEW;
    this.#narrow.open(NOTHING, 0, 0);
    this.#wide.open(NOTHING, 0, 0);
  }

  #readShapes(bytes: Uint8Array, sections: CompactSections): void {
    const shapes = this.#shapes;
    shapes.length = 0;
    this.#mayHoldReference = false;
    const { ownStart, referencesStart, shapeCount } = sections;
    if (ownStart < referencesStart) this.#readOwnShapes(this.#source.read(bytes, ownStart, referencesStart));
    let own = 0;
    for (let index = 0; index < shapeCount; index++) {
      const number = referenceAt(bytes, sections, index);
      const shape = number === OWN_SHAPE ? this.#ownShapes[own++] : this.#shapeOf(number);
      if (shape === undefined) throw new Error(`shape ${number} was never announced`);
      if (shape.mayBeReference) this.#mayHoldReference = true;
      shapes.push(shape);
    }
  }

  #readOwnShapes(text: string): void {
    if (text === this.#ownText) return;
    const lists: unknown = JSON.parse(text);
    if (!Array.isArray(lists)) throw new Error('the own shapes are not a list');
    this.#ownText = '';
    this.#ownShapes = lists.map((list: unknown) => {
      const shape = shapeOf(list);
      if (shape === undefined) throw new Error('an own shape is not a list of keys that an object can have');
      return shape;
    });
    this.#ownText = text;
  }

  #value(): unknown {
    const at = this.#at;
    if (at >= this.#end) throw new Error('the structure ends in the middle of a value');
    const tag = this.#bytes[at] ?? 0;
    this.#at = at + 1;
    if (tag < TAG.smallIntegerEnd) return tag;
    if (tag < TAG.object) return this.#narrow.take(tag & TEXT_UNITS_IN_TAG);
    if (tag < TAG.array) return this.#object(this.#shapes[tag - TAG.object]);
    if (tag < TAG.null) return this.#array(tag - TAG.array);
    return this.#other(tag, at + 1);
  }

  #object(shape: Shape | undefined): unknown {
    if (shape === undefined) throw new Error('a shape that is not among the references');
    const { keys } = shape;
    this.#keysLength += shape.textLength;
    if (this.#keysLength > KEYS_LENGTH_MAX) throw new Error(`more than ${KEYS_LENGTH_MAX} bytes of keys, as JSON`);
    this.#enter();
    const object: Record<string, unknown> = {};
    for (let index = 0; index < keys.length; index++) object[keys[index] ?? ''] = this.#value();
    this.#depth--;
    return object;
  }

  #array(length: number): unknown[] {
    // Each element takes a byte at least.
    if (length > this.#end - this.#at)
      throw new Error(`an array of ${length} elements in ${this.#end - this.#at} bytes`);
    this.#enter();
    const array: unknown[] = [];
    for (let index = 0; index < length; index++) array.push(this.#value());
    this.#depth--;
    return array;
  }

  #enter(): void {
    if (++this.#depth > JSON_DEPTH_MAX) throw new Error(`nested more than ${JSON_DEPTH_MAX} deep`);
  }

  #other(tag: number, at: number): unknown {
    switch (tag) {
      case TAG.null:
        return null;
      case TAG.false:
        return false;
      case TAG.true:
        return true;
      case TAG.byte:
        return this.#bytes[this.#skip(at, 1)];
      case TAG.short:
        this.#skip(at, 2);
        return (this.#bytes[at] ?? 0) | ((this.#bytes[at + 1] ?? 0) << 8);
      case TAG.integer:
        return this.#length(at) | 0;
      case TAG.single:
        return finite(this.#view.getFloat32(this.#skip(at, 4) + this.#bytes.byteOffset, true));
      case TAG.double:
        return finite(this.#view.getFloat64(this.#skip(at, 8) + this.#bytes.byteOffset, true));
      case TAG.textByte:
        return this.#narrow.take(this.#bytes[this.#skip(at, 1)] ?? 0);
      case TAG.textLong:
        return this.#narrow.take(this.#length(at));
      case TAG.wideText:
        return this.#wide.take(this.#length(at));
      case TAG.arrayLong:
        return this.#array(this.#length(at));
      default:
        throw new Error(`unknown item 0x${tag.toString(16)}`);
    }
  }

  #length(at: number): number {
    this.#skip(at, 4);
    const bytes = this.#bytes;
    const high = ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
    return ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | high) >>> 0;
  }

  /** Skips that many bytes after a tag; returns where they begin. */
  #skip(at: number, bytes: number): number {
    if (at + bytes > this.#end) throw new Error('the structure ends in the middle of a value');
    this.#at = at + bytes;
    return at;
  }
}

/** As in the longest frame: one byte of a payload may stand for a key list of a kilobyte. */
const KEYS_LENGTH_MAX = 16 * 1024 * 1024;

/** JSON cannot express other numbers, and an encoder that respects that writes null. */
function finite(value: number): number {
  if (value - value !== 0) throw new Error('a number that is not finite');
  return value;
}
