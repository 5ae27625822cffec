// A queue whose `shift` takes constant time: shifting a long array moves every other item.

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

  /** Removes and returns all items. */
  takeAll(): Item[] {
    const all: Item[] = [];
    for (let item = this.shift(); item !== undefined; item = this.shift()) all.push(item);
    return all;
  }
}
