// Things that wait, taken from each owner in turn, and of one owner in the order of their arrival.

export class FairLine<O, T> {
  /** The owners, the one whose turn is next first. */
  readonly #byOwner = new Map<O, Set<T>>();

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  add(owner: O, item: T): void {
    const items = this.#byOwner.get(owner);
    if (items === undefined) this.#byOwner.set(owner, new Set([item]));
    else items.add(item);
  }

  remove(owner: O, item: T): void {
    const items = this.#byOwner.get(owner);
    if (items?.delete(item) && items.size === 0) this.#byOwner.delete(owner);
  }

  /** Removes the next item; its owner goes to the end. */
  take(): T | undefined {
    for (const [owner, items] of this.#byOwner) {
      this.#byOwner.delete(owner);
      for (const item of items) {
        items.delete(item);
        if (items.size > 0) this.#byOwner.set(owner, items);
        return item;
      }
    }
    return undefined;
  }
}
