// A shape: the key list of an object, which is announced and numbered.

/** Keys of one shape. Objects with more are rare, and no two of them are alike. */
export const SHAPE_KEYS_MAX = 64;
/** Length of a key list as JSON. */
export const SHAPE_TEXT_BYTES_MAX = 1024;
/** Shapes that one engine numbers. */
export const SHAPES_MAX = 4096;
/** Shapes for which one connection may request a number. */
export const SHAPES_ASKED_MAX = 1024;

export interface Shape {
  readonly keys: readonly string[];
  /** Approximate length of an object of this shape as JSON without its values. */
  readonly textLength: number;
  /** Whether an object of this shape may be a reference to an end of a channel (docs/channels.md). */
  readonly mayBeReference: boolean;
}

/**
 * The shape in a JSON text, or undefined if no object made by JSON.parse lists these keys in this order. A key
 * `__proto__` is refused too: assigning it would give an object another prototype instead of a member.
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
  // V8 has already interned the keys of an object, which makes assigning by them fast.
  const keys = Object.keys(sample);
  if (keys.length !== list.length || keys.some((key, at) => key !== list[at])) return undefined;
  return { keys, textLength, mayBeReference: keys.includes('channel_id') };
}
