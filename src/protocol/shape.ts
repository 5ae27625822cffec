// A shape: the key list of an object, as it is announced and numbered.

/** Keys of one shape. Objects with more are rare, and no two of them alike. */
export const SHAPE_KEYS_MAX = 64;
/** Of a key list as JSON. */
export const SHAPE_TEXT_BYTES_MAX = 1024;
/** Shapes that one engine numbers. */
export const SHAPES_MAX = 4096;
/** Shapes that one connection may ask a number for. */
export const SHAPES_ASKED_MAX = 1024;

export interface Shape {
  readonly keys: readonly string[];
  /** About what an object of this shape takes as JSON without its values. */
  readonly textLength: number;
  /** Whether an object of this shape may be a reference to an end of a channel (docs/channels.md). */
  readonly mayBeReference: boolean;
}

/**
 * The shape in a JSON text, or nothing if no object that JSON.parse makes lists these keys in this order. A key
 * `__proto__` is among what is refused: assigning it would give an object another prototype instead of a member.
 */
export function readShape(text: string): Shape | undefined {
  if (text.length > SHAPE_TEXT_BYTES_MAX) return undefined;
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  return shapeOf(list);
}

export function shapeOf(list: unknown): Shape | undefined {
  if (!Array.isArray(list) || list.length > SHAPE_KEYS_MAX) return undefined;
  const sample: Record<string, null> = {};
  let textLength = 2;
  for (const key of list as readonly unknown[]) {
    if (typeof key !== 'string' || key === '__proto__') return undefined;
    sample[key] = null;
    textLength += key.length + 4;
  }
  // The keys of an object are in V8's table of names already, which makes assigning by them fast.
  const keys = Object.keys(sample);
  if (keys.length !== list.length || keys.some((key, at) => key !== list[at])) return undefined;
  return { keys, textLength, mayBeReference: keys.includes('channel_id') };
}
