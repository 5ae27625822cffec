// Sets of things by key. A key without things takes no memory, however many keys were used.

export class Groups<K, T> {
  readonly #groups = new Map<K, Set<T>>();

  add(key: K, item: T): void {
    const group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, new Set([item]));
    else group.add(item);
  }

  remove(key: K, item: T): void {
    const group = this.#groups.get(key);
    if (group?.delete(item) && group.size === 0) this.#groups.delete(key);
  }

  of(key: K): ReadonlySet<T> {
    return this.#groups.get(key) ?? new Set();
  }
}
