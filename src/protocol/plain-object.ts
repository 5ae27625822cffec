// Which objects JSON.stringify treats as something else than their members.

/** Prototypes whose objects are nothing but their members. */
const plainPrototypes = new WeakSet<object>([Object.prototype]);

/**
 * Whether JSON.stringify may take this object for the primitive that it wraps, or for text that is written as it
 * stands. Wrappers are known by their prototype, from whichever realm it is: that is a wrapper as well.
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
