// What the encoder of compact payloads asks before it writes an object: whether JSON.stringify would write something
// else than its members, and whether the compact form is worth another attempt after it failed.

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

export class AttemptBackoff {
  /** Failures in a row, and the number of occasions to skip before the next attempt. */
  #failures = 0;
  #skips = 0;

  next(): boolean {
    if (this.#skips === 0) return true;
    this.#skips--;
    return false;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures = Math.min(this.#failures + 1, FAILURES_COUNTED_MAX);
    this.#skips = 2 ** this.#failures - 2;
  }
}

/** After that many failures 62 occasions in a row are skipped. */
const FAILURES_COUNTED_MAX = 6;
