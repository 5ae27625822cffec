// A ring of the newest items, outside React: frames are added as they arrive, views read at most once a frame (LIV-2).
//
// - `total` counts every item ever added. Item number n (from 0) is held while n >= total - length.
// - A gap is an item like any other, so it keeps its place between its neighbours (LIV-5).

export class Ring<T> {
  readonly #limit: number;
  #items: (T | undefined)[] = [];
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get limit(): number {
    return this.#limit;
  }

  /** How many were added since the beginning or the last `clear`. */
  get total(): number {
    return this.#total;
  }

  get length(): number {
    return Math.min(this.#total, this.#limit);
  }

  /** Number of the oldest item that is still held. */
  get first(): number {
    return this.#total - this.length;
  }

  push(items: readonly T[]): void {
    for (const item of items) {
      this.#items[this.#total % this.#limit] = item;
      this.#total++;
    }
  }

  /** By its number, counted as `total` counts. */
  at(number: number): T | undefined {
    return number < this.first || number >= this.#total ? undefined : this.#items[number % this.#limit];
  }

  /** The items from that number on, oldest first, as far as they are held. */
  from(number: number, end = this.#total): T[] {
    const found: T[] = [];
    for (let at = Math.max(number, this.first); at < Math.min(end, this.#total); at++) {
      const item = this.#items[at % this.#limit];
      if (item !== undefined) found.push(item);
    }
    return found;
  }

  clear(): void {
    this.#items = [];
    this.#total = 0;
  }
}
