// A queue whose front costs the same however long it is: taking the first item out of a long array moves all others.

export class Fifo<Item> {
  #items: (Item | undefined)[] = [];
  #start = 0;

  get isEmpty(): boolean {
    return this.#start === this.#items.length;
  }

  /** The item that `shift` would take. */
  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  shift(): Item | undefined {
    const item = this.#items[this.#start];
    if (this.isEmpty) return undefined;
    this.#items[this.#start++] = undefined;
    if (2 * this.#start >= this.#items.length) {
      this.#items.splice(0, this.#start);
      this.#start = 0;
    }
    return item;
  }

  /** Empties it. */
  takeAll(): Item[] {
    const all: Item[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) all.push(item);
    return all;
  }
}
