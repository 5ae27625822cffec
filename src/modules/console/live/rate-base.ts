// What a rate is measured against: the newest earlier snapshot that lies far enough back. Counts arrive in batches, so
// between two looks that happen to come close together a whole batch, or none, would look like a burst or a standstill.

export interface Snapshot<T> {
  readonly atMs: number;
  readonly value: T;
}

export class RateBase<T> {
  readonly #leastMs: number;
  #taken: readonly Snapshot<T>[] = [];

  constructor(leastMs: number) {
    this.#leastMs = leastMs;
  }

  /** Keeps the newest snapshot and says what to compare it with; undefined: nothing is old enough yet. */
  take(newest: Snapshot<T>): Snapshot<T> | undefined {
    const at = this.#taken.findLastIndex(({ atMs }) => newest.atMs - atMs >= this.#leastMs);
    const base = this.#taken[at];
    this.#taken = [...this.#taken.slice(Math.max(0, at)), newest];
    return base;
  }

  /** What was counted before has nothing to do with what comes. */
  forget(): void {
    this.#taken = [];
  }
}
