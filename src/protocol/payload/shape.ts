// A shape: the key list of an object, which is announced and numbered.
//
// `ShapeNode` holds the shapes that a sender has used, as a tree: each step down is one more key. An object finds its
// shape while its members are written, with one comparison per key if it has the same keys as the last object.

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

export class ShapeNode {
  readonly key: string;
  readonly parent: ShapeNode | undefined;
  readonly keyCount: number;
  /** Total number of units of its keys. */
  readonly keyUnits: number;
  /** The child that was used last, and the one before: an object and the objects inside it alternate at the root. */
  nextKey: string | undefined = undefined;
  next: ShapeNode | undefined = undefined;
  otherKey: string | undefined = undefined;
  other: ShapeNode | undefined = undefined;
  #children: Map<string, ShapeNode> | undefined = undefined;
  /** The number of the shape for the engine and all its connections; -1 until the engine assigns it. */
  number = -1;
  /** The payload that used it last, and its index there. */
  usedBy = 0;
  index = 0;
  /** Number of payloads that had to carry it. */
  timesOwn = 0;
  #text: string | undefined = undefined;

  constructor(parent: ShapeNode | undefined, key: string) {
    this.parent = parent;
    this.key = key;
    this.keyCount = parent === undefined ? 0 : parent.keyCount + 1;
    this.keyUnits = parent === undefined ? 0 : parent.keyUnits + key.length;
  }

  child(key: string): ShapeNode | undefined {
    return this.#children?.get(key);
  }

  adopt(key: string): ShapeNode {
    const child = new ShapeNode(this, key);
    this.#children ??= new Map();
    this.#children.set(key, child);
    return child;
  }

  /** The key list as JSON. */
  get text(): string {
    if (this.#text === undefined) {
      const keys: string[] = [];
      for (let node: ShapeNode = this; node.parent !== undefined; node = node.parent) keys.push(node.key);
      this.#text = JSON.stringify(keys.reverse());
    }
    return this.#text;
  }
}

export class ShapeTree {
  #root = new ShapeNode(undefined, '');
  #nodeCount = 0;
  #keyUnits = 0;
  /** Shapes with a number of the engine, so that none is lost when the tree is built again from the root. */
  readonly #numbered: { readonly keys: readonly string[]; readonly number: number }[] = [];

  get root(): ShapeNode {
    return this.#root;
  }

  /** Adds one key; undefined if the shape would exceed the limits. */
  step(node: ShapeNode, key: string): ShapeNode | undefined {
    let next = node.child(key);
    if (next === undefined) {
      const isTooLarge = node.keyCount >= SHAPE_KEYS_MAX || node.keyUnits + key.length > SHAPE_TEXT_BYTES_MAX;
      if (isTooLarge || key === '__proto__') return undefined;
      next = node.adopt(key);
      this.#nodeCount++;
      this.#keyUnits += key.length;
    }
    node.otherKey = node.nextKey;
    node.other = node.next;
    node.nextKey = key;
    node.next = next;
    return next;
  }

  learn(keys: readonly string[], number: number): void {
    this.#numbered.push({ keys, number });
    this.#enter(keys, number);
  }

  /** Called between payloads: objects that serve as dictionaries keep adding new keys. */
  prune(): void {
    if (this.#nodeCount <= NODES_MAX && this.#keyUnits <= KEY_UNITS_MAX) return;
    this.#root = new ShapeNode(undefined, '');
    for (const { keys, number } of this.#numbered) this.#enter(keys, number);
    // Shapes with a number are kept, however many; the limit applies to those without.
    this.#nodeCount = 0;
    this.#keyUnits = 0;
  }

  #enter(keys: readonly string[], number: number): void {
    let node: ShapeNode | undefined = this.#root;
    for (const key of keys) node = node && this.step(node, key);
    if (node !== undefined) node.number = number;
  }
}

const NODES_MAX = 20_000;
const KEY_UNITS_MAX = 1024 * 1024;
