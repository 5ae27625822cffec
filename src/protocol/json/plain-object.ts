// Objects that JSON.stringify does not write by their members.

/** Prototypes of objects that consist of their members only. */
const plainPrototypes = new WeakSet<object>([Object.prototype]);

/**
 * Whether JSON.stringify may write this object as the primitive that it wraps, or as raw text. Wrappers are recognised
 * by their prototype, of any realm, because the prototype of a wrapper is a wrapper itself.
 */
export function isWrapper(object: object, prototype: unknown): boolean {
  if (typeof prototype !== 'object' || prototype === null) {
    return 'rawJSON' in object || WRAPPERS.has(tagOf(object));
  }
  if (plainPrototypes.has(prototype)) return false;
  for (let link: unknown = prototype; typeof link === 'object' && link !== null; link = Object.getPrototypeOf(link)) {
    if (WRAPPERS.has(tagOf(link))) return true;
  }
  plainPrototypes.add(prototype);
  return false;
}

const WRAPPERS: ReadonlySet<string> = new Set([
  '[object Number]',
  '[object String]',
  '[object Boolean]',
  '[object BigInt]',
]);

function tagOf(object: object): string {
  return Object.prototype.toString.call(object);
}
