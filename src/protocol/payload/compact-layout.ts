// The compact form of a payload: a JSON value as bytes between our own SDKs. The engine passes them on and reads only
// the tail. docs/protocol.md describes the form in words; test/golden/binary/compact.json holds vectors. Shared by the
// engine and the SDKs, so it uses no Node built-in.
//
//   structure     one item for each value, depth first (TAG)
//   narrow texts  the texts whose units are all below 256, one byte a unit, in the order of the structure
//   wide texts    the other texts, two bytes a unit                                             (FLAG.wide)
//   own shapes    JSON: the key lists that have no number yet, in the order of their references  (FLAG.own)
//   references    u16 for each shape: its number, or OWN_SHAPE
//   tail          [u24 start of the wide texts] · [u24 start of the own shapes] · u24 start of the narrow texts
//                 · u8 flags · u8 how many shapes
//
// A shape is the key list of an object. An item refers to a shape by its index among the references, in six bits.

/** First byte of an item; what does not fit into it follows, little-endian. */
export const TAG = {
  /** 0 to 63 are the number itself. */
  smallIntegerEnd: 0x40,
  /** A narrow text of up to 63 units. */
  text: 0x40,
  /** An object of the shape at this index; the values follow in the order of its keys. */
  object: 0x80,
  /** An array of up to 31 elements, which follow. */
  array: 0xc0,
  null: 0xe0,
  false: 0xe1,
  true: 0xe2,
  /** A whole number in one byte, two bytes, or four bytes with a sign. */
  byte: 0xe3,
  short: 0xe4,
  integer: 0xe5,
  /** A number as float32 if that is exact, otherwise as float64. */
  single: 0xe6,
  double: 0xe7,
  /** A narrow text, its length in one or four bytes. */
  textByte: 0xe8,
  textLong: 0xe9,
  /** A wide text, its length in four bytes. */
  wideText: 0xea,
  /** An array, its length in four bytes. */
  arrayLong: 0xeb,
} as const;

export const TEXT_UNITS_IN_TAG = 63;
export const ARRAY_LENGTH_IN_TAG = 31;

export const COMPACT_FLAG = { wide: 1, own: 2 } as const;

/** A reference to a key list that the payload itself carries. */
export const OWN_SHAPE = 0xffff;
/** Shapes in one payload: the range of six bits. */
export const PAYLOAD_SHAPES_MAX = 64;
/** Larger payloads are sent as JSON text, which another thread of the engine can check. */
export const COMPACT_BYTES_MAX = 256 * 1024;
/** References, flags and counts at the end; each of the starts takes three bytes. */
export const TAIL_BYTES = 5;
export const START_BYTES = 3;
export const REFERENCE_BYTES = 2;

/** The positions of the parts of a payload, counted from the first byte of its memory. */
export interface CompactSections {
  narrowStart: number;
  wideStart: number;
  ownStart: number;
  referencesStart: number;
  shapeCount: number;
}

/**
 * Reads the tail of a payload that runs from `start` to before `end`. False: these bytes are not such a payload.
 * `parts` is filled in, so that no object is allocated for each message.
 */
export function readSections(bytes: Uint8Array, start: number, end: number, sections: CompactSections): boolean {
  if (end - start < TAIL_BYTES || end - start > COMPACT_BYTES_MAX) return false;
  const flags = bytes[end - 2] ?? 0;
  const shapeCount = bytes[end - 1] ?? 0;
  if (flags > (COMPACT_FLAG.wide | COMPACT_FLAG.own) || shapeCount > PAYLOAD_SHAPES_MAX) return false;
  let at = end - TAIL_BYTES;
  sections.narrowStart = start + u24(bytes, at);
  const hasOwn = (flags & COMPACT_FLAG.own) !== 0;
  const hasWide = (flags & COMPACT_FLAG.wide) !== 0;
  if (hasOwn) at -= START_BYTES;
  const ownStart = hasOwn ? start + u24(bytes, at) : -1;
  if (hasWide) at -= START_BYTES;
  const wideStart = hasWide ? start + u24(bytes, at) : -1;
  at -= shapeCount * REFERENCE_BYTES;
  sections.referencesStart = at;
  sections.ownStart = hasOwn ? ownStart : at;
  sections.wideStart = hasWide ? wideStart : sections.ownStart;
  sections.shapeCount = shapeCount;
  const isInOrder = start < sections.narrowStart && sections.narrowStart <= sections.wideStart;
  const wideBytes = sections.ownStart - sections.wideStart;
  return isInOrder && wideBytes >= 0 && wideBytes % 2 === 0 && sections.ownStart <= at;
}

export function emptySections(): CompactSections {
  return { narrowStart: 0, wideStart: 0, ownStart: 0, referencesStart: 0, shapeCount: 0 };
}

/** The shape at this index among the references. */
export function referenceAt(bytes: Uint8Array, { referencesStart }: CompactSections, index: number): number {
  const at = referencesStart + index * REFERENCE_BYTES;
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
}

/**
 * Writes the references of a payload again, with the numbers of another table; `numberFor` returns undefined for a
 * number that has none there. `unmapped`: the payload is unchanged.
 */
export function mapReferences(
  bytes: Uint8Array,
  start: number,
  end: number,
  numberFor: (number: number) => number | undefined,
): 'mapped' | 'unmapped' | 'invalid' {
  if (!readSections(bytes, start, end, MAPPED)) return 'invalid';
  const { referencesStart, shapeCount } = MAPPED;
  for (let index = 0; index < shapeCount; index++) {
    const number = referenceAt(bytes, MAPPED, index);
    if (number !== OWN_SHAPE && numberFor(number) === undefined) return 'unmapped';
  }
  for (let index = 0; index < shapeCount; index++) {
    const number = referenceAt(bytes, MAPPED, index);
    const mapped = number === OWN_SHAPE ? number : (numberFor(number) ?? number);
    bytes[referencesStart + index * REFERENCE_BYTES] = mapped & 0xff;
    bytes[referencesStart + index * REFERENCE_BYTES + 1] = mapped >>> 8;
  }
  return 'mapped';
}

function u24(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
}

export function putU24(memory: Uint8Array, at: number, value: number): number {
  memory[at] = value & 0xff;
  memory[at + 1] = (value >>> 8) & 0xff;
  memory[at + 2] = value >>> 16;
  return at + 3;
}

export function putU32(memory: Uint8Array, at: number, value: number): void {
  memory[at] = value & 0xff;
  memory[at + 1] = (value >>> 8) & 0xff;
  memory[at + 2] = (value >>> 16) & 0xff;
  memory[at + 3] = value >>> 24;
}

const MAPPED = emptySections();
