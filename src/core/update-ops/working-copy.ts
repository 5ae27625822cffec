// The value that the operations of one call change. The old value is never touched: an object or a list is copied
// before its first change, once in a call, and all that does not change is shared with the old value.

import type { JsonObject, JsonValue } from '../exact-json.ts';
import { isObject } from './kinds.ts';
import type { Path } from './read-op.ts';

type Fields = { [key: string]: JsonValue };

export class WorkingCopy {
  #value: JsonValue | undefined;
  #isTouched = false;
  /** Made in this call, so nobody else sees them change. */
  readonly #owned = new Set<object>();

  constructor(value: JsonValue | undefined) {
    this.#value = value;
  }

  /** `undefined`: there is no value. */
  get value(): JsonValue | undefined {
    return this.#value;
  }

  /** Whether anything was written, if only the same again. */
  get isTouched(): boolean {
    return this.#isTouched;
  }

  /** Whether there are fields to be had: a value that is missing begins as an empty object (decisions 44). */
  get takesFields(): boolean {
    return this.#value === undefined || isObject(this.#value);
  }

  /** What stands there; `undefined` where there is nothing, or no object on the way. */
  read(path: Path): JsonValue | undefined {
    let found = this.#value;
    for (const segment of path) {
      if (!isObject(found) || !Object.hasOwn(found, segment)) return undefined;
      found = found[segment];
    }
    return found;
  }

  /** Puts it there; whatever is no object on the way is replaced by one. */
  write(path: Path, value: JsonValue): void {
    this.#isTouched = true;
    const last = path.at(-1);
    if (last === undefined) this.#value = value;
    else this.#parentOf(path)[last] = value;
  }

  /** Takes a field away, if it is there. */
  remove(field: string): void {
    if (!isObject(this.#value) || !Object.hasOwn(this.#value, field)) return;
    this.#isTouched = true;
    delete this.#parentOf([field])[field];
  }

  /** Adds the fields to what stands there, an object or something that gives way to one. */
  merge(path: Path, fields: JsonObject): void {
    const target = this.read(path);
    if (isObject(target) && this.#owned.has(target)) {
      this.#isTouched = true;
      Object.assign(target, fields);
    } else this.write(path, this.#own(isObject(target) ? { ...target, ...fields } : { ...fields }));
  }

  /** Adds an element to the list that stands there. */
  push(path: Path, list: readonly JsonValue[], element: JsonValue): void {
    if (this.#owned.has(list)) (list as JsonValue[]).push(element);
    else this.write(path, this.#own([...list, element]));
  }

  /** The object that the last segment is a field of, free to be changed, as are all on the way to it. */
  #parentOf(path: Path): Fields {
    let parent: Fields = this.#freed(this.#value);
    this.#value = parent;
    for (let at = 0; at < path.length - 1; at++) {
      const segment = path[at] ?? '';
      const child = this.#freed(Object.hasOwn(parent, segment) ? parent[segment] : undefined);
      parent[segment] = child;
      parent = child;
    }
    return parent;
  }

  #freed(value: JsonValue | undefined): Fields {
    if (!isObject(value)) return this.#own({});
    // Owned objects were made here, as objects that can be written to.
    return this.#owned.has(value) ? (value as Fields) : this.#own({ ...value });
  }

  #own<T extends object>(made: T): T {
    this.#owned.add(made);
    return made;
  }
}
