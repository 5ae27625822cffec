// A priority queue by due time: a binary heap. Adding, moving and removing one item costs the logarithm of their
// number.

export interface Due {
  /** The due time; only the queue changes it while the item is in the queue. */
  dueMs: number;
  /** Its position in the heap; -1 while it is in none. */
  heapIndex: number;
}

export class DueQueue<T extends Due> {
  readonly #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }

  get first(): T | undefined {
    return this.#heap[0];
  }

  add(item: T, dueMs: number): void {
    item.dueMs = dueMs;
    item.heapIndex = this.#heap.length;
    this.#heap.push(item);
    this.#rise(item);
  }

  remove(item: T): void {
    if (item.heapIndex < 0) return;
    const last = this.#heap.pop();
    if (last !== undefined && last !== item) {
      this.#put(last, item.heapIndex);
      this.#rise(last);
      this.#sink(last);
    }
    item.heapIndex = -1;
  }

  /** Every item, in no order. */
  items(): readonly T[] {
    return this.#heap;
  }

  #rise(item: T): void {
    for (;;) {
      const above = item.heapIndex === 0 ? undefined : this.#heap[(item.heapIndex - 1) >> 1];
      if (above === undefined || above.dueMs <= item.dueMs) return;
      this.#swap(item, above);
    }
  }

  #sink(item: T): void {
    for (;;) {
      const [left, right] = [this.#heap[2 * item.heapIndex + 1], this.#heap[2 * item.heapIndex + 2]];
      const below = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
      if (below === undefined || below.dueMs >= item.dueMs) return;
      this.#swap(item, below);
    }
  }

  #swap(one: T, other: T): void {
    const { heapIndex } = one;
    this.#put(one, other.heapIndex);
    this.#put(other, heapIndex);
  }

  #put(item: T, heapIndex: number): void {
    this.#heap[heapIndex] = item;
    item.heapIndex = heapIndex;
  }
}
