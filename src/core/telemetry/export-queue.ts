// What waits for a collector (O2): bounded by count and by bytes, the newest refused when it is full.
//
// Invariant: what was given out by `take` stays in the queue, and counts, until `settle` says what became of it. A
// collector that takes nothing for ever therefore costs no more memory than the limits.

export interface ExportQueueLimits {
  readonly items: number;
  readonly bytes: number;
  /** Given out at once, at most. */
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

  /** False: full, and the item was not taken. */
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

  /** What was taken has left for good, or is to be taken again. */
  settle(outcome: 'gone' | 'again'): void {
    if (outcome === 'gone') this.#remove(this.#taken);
    this.#taken = 0;
  }

  /** Forgets everything; tells how many items that were. */
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

/** How long to wait after that many failures in a row: a second, doubled up to half a minute. */
export function retryDelayMs(failures: number): number {
  return Math.min(1_000 * 2 ** Math.max(0, failures - 1), 30_000);
}
