// The value that the operations of one call change. The old value is never changed: an object or a list is copied
// before its first change, once in a call, and all unchanged parts are shared with the old value.

import type { JsonObject, JsonValue } from '../calls/exact-json.ts';
import { isObject } from './kinds.ts';
import type { Path } from './read-op.ts';

type Fields = { [key: string]: JsonValue };

export class WorkingCopy {
  #value: JsonValue | undefined;
  #isTouched = false;
  /** Created in this call, so no other code sees them change. */
  readonly #owned = new Set<object>();

  constructor(value: JsonValue | undefined) {
    this.#value = value;
  }

  /** `undefined`: there is no value. */
  get value(): JsonValue | undefined {
    return this.#value;
  }

  /** Whether anything was written, even an equal value. */
  get isTouched(): boolean {
    return this.#isTouched;
  }

  /** Whether the value has fields: a missing value starts as an empty object (PD-44). */
  get takesFields(): boolean {
    return this.#value === undefined || isObject(this.#value);
  }

  /** The value at the path; `undefined` where there is none, or where the way to it is not an object. */
  read(path: Path): JsonValue | undefined {
    let found = this.#value;
    for (const segment of path) {
      if (!isObject(found) || !Object.hasOwn(found, segment)) return undefined;
      found = found[segment];
    }
    return found;
  }

  /** Stores the value at the path; anything on the way that is not an object is replaced by one. */
  write(path: Path, value: JsonValue): void {
    this.#isTouched = true;
    const last = path.at(-1);
    if (last === undefined) this.#value = value;
    else this.#parentOf(path)[last] = value;
  }

  /** Removes a field, if it exists. */
  remove(field: string): void {
    if (!isObject(this.#value) || !Object.hasOwn(this.#value, field)) return;
    this.#isTouched = true;
    delete this.#parentOf([field])[field];
  }

  /** Adds the fields to the value at the path, which is an object or is replaced by one. */
  merge(path: Path, fields: JsonObject): void {
    const target = this.read(path);
    if (isObject(target) && this.#owned.has(target)) {
      this.#isTouched = true;
      Object.assign(target, fields);
    } else this.write(path, this.#own(isObject(target) ? { ...target, ...fields } : { ...fields }));
  }

  /** Adds an element to the list at the path. */
  push(path: Path, list: readonly JsonValue[], element: JsonValue): void {
    if (this.#owned.has(list)) (list as JsonValue[]).push(element);
    else this.write(path, this.#own([...list, element]));
  }

  /** The object that the last segment is a field of, safe to change, as are all on the way to it. */
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
    // Owned objects were created here, as mutable objects.
    return this.#owned.has(value) ? (value as Fields) : this.#own({ ...value });
  }

  #own<T extends object>(made: T): T {
    this.#owned.add(made);
    return made;
  }
}
