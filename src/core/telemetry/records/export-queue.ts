// The queue of items for a collector (O2): bounded by count and by bytes; when it is full, the newest are refused.
//
// Invariant: items that `take` returned stay in the queue, and count, until `settle` reports their outcome. A collector
// that never accepts anything costs no more memory than the limits.

export interface ExportQueueLimits {
  readonly items: number;
  readonly bytes: number;
  /** The largest batch. */
  readonly batch: number;
}

export class ExportQueue<Item> {
  readonly #limits: ExportQueueLimits;
  #items: Item[] = [];
  #sizes: number[] = [];
  #taken = 0;
  #bytes = 0;

  constructor(limits: ExportQueueLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#items.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a whole batch waits. */
  get hasBatch(): boolean {
    return this.length - this.#taken >= this.#limits.batch;
  }

  /** False: the queue is full, and the item was refused. */
  push(item: Item, bytes: number): boolean {
    if (this.length >= this.#limits.items || this.#bytes + bytes > this.#limits.bytes) return false;
    this.#items.push(item);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    return true;
  }

  /** The oldest items, at most one batch. They must be settled before more are taken. */
  take(): readonly Item[] {
    if (this.#taken > 0) throw new Error('the last batch of this export queue is not settled');
    const batch = this.#items.slice(0, this.#limits.batch);
    this.#taken = batch.length;
    return batch;
  }

  /** The taken items have left for good, or will be taken again. */
  settle(outcome: 'gone' | 'again'): void {
    if (outcome === 'gone') this.#remove(this.#taken);
    this.#taken = 0;
  }

  /** Drops everything; returns the number of items. */
  clear(): number {
    const { length } = this;
    this.#items = [];
    this.#sizes = [];
    this.#taken = 0;
    this.#bytes = 0;
    return length;
  }

  #remove(count: number): void {
    for (const size of this.#sizes.slice(0, count)) this.#bytes -= size;
    // Batches are large: moving the rest once for each is cheap.
    this.#items = this.#items.slice(count);
    this.#sizes = this.#sizes.slice(count);
  }
}

/** The delay after that many failures in a row: a second, doubled up to half a minute. */
export function retryDelayMs(failures: number): number {
  return Math.min(1_000 * 2 ** Math.max(0, failures - 1), 30_000);
}
