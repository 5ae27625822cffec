// Values → the compact form of a payload (compact-layout.ts). SDK side; one encoder per connection, because the numbers
// of shapes belong to it.
//
// - What `encode` writes decodes to the result of JSON.parse(JSON.stringify(value)). A value for which that is not
//   certain (big integers, wrapped primitives, cycles, great depth or size) is rejected: it is sent as JSON text, and
//   JSON.stringify throws what it throws. It may run `toJSON` methods and getters a second time.
// - Encoded payloads stay in place until `release`.
// - A `toJSON` or a getter may call the encoder while it writes a payload: that call is rejected at once.
//
// Written for speed: positions are passed as numbers, and members are read in the loop that lists them. Variants in
// which V8 looks twice measured slower.

import { JSON_DEPTH_MAX } from '../frames/limits.ts';
import { TextBytes, type TextMemory } from '../json/text-memory.ts';
import { AttemptBackoff, isWrapper } from './compact-exceptions.ts';
import {
  ARRAY_LENGTH_IN_TAG,
  COMPACT_BYTES_MAX,
  COMPACT_FLAG,
  OWN_SHAPE,
  PAYLOAD_SHAPES_MAX,
  putU24,
  putU32,
  REFERENCE_BYTES,
  START_BYTES,
  TAG,
  TAIL_BYTES,
  TEXT_UNITS_IN_TAG,
} from './compact-layout.ts';
import { SHAPE_TEXT_BYTES_MAX, SHAPES_ASKED_MAX, type Shape, type ShapeNode, ShapeTree } from './shape.ts';

/** A payload in the encoder's memory. */
export class CompactPayload {
  readonly start: number;
  readonly length: number;

  constructor(start: number, length: number) {
    this.start = start;
    this.length = length;
  }
}

export class CompactEncoder {
  readonly #platform: TextMemory;
  readonly #askNumber: (keyList: string) => void;
  readonly #shapes = new ShapeTree();
  readonly #narrow: TextBytes;
  readonly #wide: TextBytes;
  #memory: Uint8Array;
  #view: DataView;
  /** The end of the last payload. */
  #end = 0;
  /** The start of the current payload, and the last position where an item may begin without a check for room. */
  #start = 0;
  #lastItem = 0;
  #isBusy = false;
  /** Counts payloads, to find which one used a shape last. */
  #serial = 0;
  readonly #used: ShapeNode[] = [];
  #ownKeys = 0;
  #depth = 0;
  #lastPrototype: unknown = Object.prototype;
  #asked = 0;
  readonly #backoff = new AttemptBackoff();

  /** `askNumber` gets a key list that occurred repeatedly without a number. */
  constructor(platform: TextMemory, askNumber: (keyList: string) => void) {
    this.#platform = platform;
    this.#askNumber = askNumber;
    this.#narrow = new TextBytes(platform);
    this.#wide = new TextBytes(platform);
    this.#memory = platform.allocate(FIRST_BYTES);
    this.#view = viewOf(this.#memory);
  }

  /** The memory of the payloads. Changes with every `encode`. */
  get memory(): Uint8Array {
    return this.#memory;
  }

  /** Releases everything that was encoded. */
  release(): void {
    if (this.#isBusy) return;
    this.#end = 0;
    if (this.#memory.length > KEPT_BYTES_MAX) this.#allocate(FIRST_BYTES);
  }

  /** The engine has assigned a number to a shape. */
  learn({ keys }: Shape, number: number): void {
    this.#shapes.learn(keys, number);
  }

  /** Undefined: the value has to be sent as JSON text, if it has any. */
  encode(value: unknown): CompactPayload | undefined {
    if (typeof value !== 'object' || value === null || this.#isBusy) return undefined;
    if (!this.#backoff.next()) return undefined;
    this.#isBusy = true;
    try {
      const payload = this.#encode(value);
      this.#backoff.succeeded();
      return payload;
    } catch (error) {
      if (error !== GIVEN_BACK) throw error;
      this.#backoff.failed();
      return undefined;
    } finally {
      this.#isBusy = false;
    }
  }

  #encode(value: object): CompactPayload | undefined {
    this.#shapes.prune();
    this.#serial++;
    this.#used.length = 0;
    this.#ownKeys = 0;
    this.#depth = 0;
    this.#narrow.clear();
    this.#wide.clear();
    this.#start = this.#end;
    this.#ensureCapacity(this.#start, 0);
    const narrowStart = this.#object(value, '', this.#end);
    if (narrowStart < 0) return undefined;
    this.#end = this.#close(narrowStart);
    if (this.#ownKeys > 0) this.#askForNumbers();
    return new CompactPayload(this.#start, this.#end - this.#start);
  }

  /** Writes one value at `at` and returns where the next one begins; -1 for a value that JSON leaves out. */
  #value(value: unknown, key: string | number, at: number): number {
    if (at > this.#lastItem) this.#ensureCapacity(at, 0);
    const memory = this.#memory;
    if (typeof value === 'string') {
      if (value.length > SHORT_UNITS_MAX) return this.#longText(value, at);
      if (!this.#narrow.addShort(value)) return this.#wideText(value, at);
      memory[at] = TAG.text | value.length;
      return at + 1;
    }
    if (typeof value === 'number') {
      if ((value | 0) !== value || value < 0 || value >= TAG.smallIntegerEnd) return this.#number(value, at);
      memory[at] = value;
      return at + 1;
    }
    if (typeof value === 'object' && value !== null) return this.#object(value, key, at);
    if (value === null) memory[at] = TAG.null;
    else if (typeof value === 'boolean') memory[at] = value ? TAG.true : TAG.false;
    else if (isLeftOut(value)) return -1;
    else throw GIVEN_BACK;
    return at + 1;
  }

  #number(value: number, at: number): number {
    const memory = this.#memory;
    if ((value | 0) === value) {
      if (value >= 0 && value <= 0xff) {
        memory[at] = TAG.byte;
        memory[at + 1] = value;
        return at + 2;
      }
      if (value >= 0 && value <= 0xffff) {
        memory[at] = TAG.short;
        memory[at + 1] = value & 0xff;
        memory[at + 2] = value >>> 8;
        return at + 3;
      }
      memory[at] = TAG.integer;
      putU32(memory, at + 1, value);
      return at + 5;
    }
    // Infinite, or not a number.
    if (value - value !== 0) {
      memory[at] = TAG.null;
      return at + 1;
    }
    if (Math.fround(value) === value) {
      memory[at] = TAG.single;
      this.#view.setFloat32(at + 1, value, true);
      return at + 5;
    }
    memory[at] = TAG.double;
    this.#view.setFloat64(at + 1, value, true);
    return at + 9;
  }

  #longText(text: string, at: number): number {
    if (this.#narrow.length + text.length > COMPACT_BYTES_MAX) throw GIVEN_BACK;
    if (!this.#narrow.addLong(text)) return this.#wideText(text, at);
    const memory = this.#memory;
    if (text.length <= TEXT_UNITS_IN_TAG) {
      memory[at] = TAG.text | text.length;
      return at + 1;
    }
    if (text.length <= 0xff) {
      memory[at] = TAG.textByte;
      memory[at + 1] = text.length;
      return at + 2;
    }
    memory[at] = TAG.textLong;
    putU32(memory, at + 1, text.length);
    return at + 5;
  }

  #wideText(text: string, at: number): number {
    if (this.#wide.length + 2 * text.length > COMPACT_BYTES_MAX) throw GIVEN_BACK;
    this.#wide.addWide(text);
    this.#memory[at] = TAG.wideText;
    putU32(this.#memory, at + 1, text.length);
    return at + 5;
  }

  #object(value: object, key: string | number, at: number): number {
    const { toJSON } = value as { readonly toJSON?: unknown };
    let source = value;
    if (typeof toJSON === 'function') {
      const replaced: unknown = toJSON.call(value, String(key));
      if (typeof replaced !== 'object' || replaced === null) return this.#value(replaced, key, at);
      source = replaced;
    }
    if (++this.#depth > JSON_DEPTH_MAX) throw GIVEN_BACK;
    const end = Array.isArray(source) ? this.#array(source, at) : this.#members(source, at);
    this.#depth--;
    return end;
  }

  #array(array: readonly unknown[], start: number): number {
    const { length } = array;
    // A proxy may return anything.
    if (length >>> 0 !== length || length > COMPACT_BYTES_MAX) throw GIVEN_BACK;
    let at = start;
    if (at > this.#lastItem) this.#ensureCapacity(at, 0);
    if (length <= ARRAY_LENGTH_IN_TAG) {
      this.#memory[at++] = TAG.array | length;
    } else {
      this.#memory[at] = TAG.arrayLong;
      putU32(this.#memory, at + 1, length);
      at += 5;
    }
    for (let index = 0; index < length; index++) {
      const next = this.#value(array[index], index, at);
      if (next < 0) this.#memory[at++] = TAG.null;
      else at = next;
    }
    return at;
  }

  #members(object: object, start: number): number {
    const prototype: unknown = Object.getPrototypeOf(object);
    if (prototype !== this.#lastPrototype) {
      if (isWrapper(object, prototype)) throw GIVEN_BACK;
      if (prototype !== null) this.#lastPrototype = prototype;
    }
    const members = object as Readonly<Record<string, unknown>>;
    let node = this.#shapes.root;
    let at = start + 1;
    for (const key in members) {
      if (!hasOwn.call(members, key)) continue;
      const next = this.#value(members[key], key, at);
      if (next < 0) continue;
      at = next;
      if (node.nextKey === key && node.next !== undefined) node = node.next;
      else if (node.otherKey === key && node.other !== undefined) node = node.other;
      else node = this.#step(node, key);
    }
    if (node.usedBy !== this.#serial) this.#use(node);
    this.#memory[start] = TAG.object | node.index;
    return at;
  }

  #step(node: ShapeNode, key: string): ShapeNode {
    const next = this.#shapes.step(node, key);
    if (next === undefined) throw GIVEN_BACK;
    return next;
  }

  #use(node: ShapeNode): void {
    if (this.#used.length === PAYLOAD_SHAPES_MAX) throw GIVEN_BACK;
    if (node.number < 0) this.#ownKeys += node.keyCount + 1;
    if (this.#ownKeys > OWN_KEYS_MAX) throw GIVEN_BACK;
    node.usedBy = this.#serial;
    node.index = this.#used.length;
    this.#used.push(node);
  }

  /** Writes everything that follows the structure; returns the end of the payload. */
  #close(narrowStart: number): number {
    const own = this.#ownKeys > 0 ? this.#ownText() : '';
    const shapeCount = this.#used.length;
    const rest = this.#narrow.length + this.#wide.length + 3 * own.length + shapeCount * REFERENCE_BYTES;
    this.#ensureCapacity(narrowStart, rest + 2 * START_BYTES + TAIL_BYTES);
    const memory = this.#memory;
    const wideStart = this.#narrow.copyTo(memory, narrowStart);
    const ownStart = this.#wide.copyTo(memory, wideStart);
    let at = own === '' ? ownStart : ownStart + this.#platform.write(memory, own, ownStart);
    for (const { number } of this.#used) {
      const reference = number < 0 ? OWN_SHAPE : number;
      memory[at++] = reference & 0xff;
      memory[at++] = reference >>> 8;
    }
    if (this.#wide.length > 0) at = putU24(memory, at, wideStart - this.#start);
    if (own !== '') at = putU24(memory, at, ownStart - this.#start);
    at = putU24(memory, at, narrowStart - this.#start);
    memory[at++] = (this.#wide.length > 0 ? COMPACT_FLAG.wide : 0) | (own === '' ? 0 : COMPACT_FLAG.own);
    memory[at++] = shapeCount;
    if (at - this.#start > COMPACT_BYTES_MAX) throw GIVEN_BACK;
    return at;
  }

  #ownText(): string {
    let text = '';
    for (const node of this.#used) if (node.number < 0) text += text === '' ? node.text : `,${node.text}`;
    return `[${text}]`;
  }

  #askForNumbers(): void {
    for (const node of this.#used) {
      if (node.number >= 0 || ++node.timesOwn !== TIMES_OWN_BEFORE_ASKING) continue;
      if (this.#asked === SHAPES_ASKED_MAX || this.#platform.byteLength(node.text) > SHAPE_TEXT_BYTES_MAX) continue;
      this.#asked++;
      this.#askNumber(node.text);
    }
  }

  /** Reserves room for an item at `at` and that many bytes after it. */
  #ensureCapacity(at: number, bytes: number): void {
    if (at + bytes - this.#start > COMPACT_BYTES_MAX + ITEM_BYTES_MAX) throw GIVEN_BACK;
    const needed = at + bytes + 2 * ITEM_BYTES_MAX;
    if (needed > this.#memory.length) {
      const old = this.#memory;
      this.#allocate(Math.max(needed, 2 * old.length));
      this.#memory.set(old.subarray(0, at));
    }
    this.#updateLastItem();
  }

  #updateLastItem(): void {
    this.#lastItem = Math.min(this.#memory.length, this.#start + COMPACT_BYTES_MAX) - ITEM_BYTES_MAX;
  }

  #allocate(bytes: number): void {
    this.#memory = this.#platform.allocate(bytes);
    this.#view = viewOf(this.#memory);
  }
}

const { hasOwnProperty: hasOwn } = Object.prototype;

/** Thrown, always the same object: the value has to be sent as JSON text. */
const GIVEN_BACK = new Error('This value goes as JSON text');

/** More than an item takes, including the null that an array writes for a value that JSON leaves out. */
const ITEM_BYTES_MAX = 16;
/** For longer texts two calls cost less than a loop over the units. */
const SHORT_UNITS_MAX = 32;
const FIRST_BYTES = 64 * 1024;
const KEPT_BYTES_MAX = 1024 * 1024;
/** Keys that a payload may carry: a few new shapes, not objects that serve as dictionaries. */
const OWN_KEYS_MAX = 128;
/** A single use may be chance. */
const TIMES_OWN_BEFORE_ASKING = 2;

/** Big integers and functions may have a `toJSON` of their own. */
function isLeftOut(value: unknown): boolean {
  if (typeof value !== 'function') return typeof value !== 'bigint';
  return typeof (value as { readonly toJSON?: unknown }).toJSON !== 'function';
}

function viewOf(memory: Uint8Array): DataView {
  return new DataView(memory.buffer, memory.byteOffset, memory.length);
}
