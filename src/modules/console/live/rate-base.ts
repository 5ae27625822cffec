// What a rate is measured against: the newest earlier snapshot that is old enough. Counts arrive in batches. Between
// two polls that happen close together, a whole batch or none would look like a burst or a standstill.

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

  /** Keeps the newest snapshot and returns the one to compare with. Undefined: none is old enough yet. */
  take(newest: Snapshot<T>): Snapshot<T> | undefined {
    const at = this.#taken.findLastIndex(({ atMs }) => newest.atMs - atMs >= this.#leastMs);
    const base = this.#taken[at];
    this.#taken = [...this.#taken.slice(Math.max(0, at)), newest];
    return base;
  }

  /** Forgets earlier counts, which are unrelated to later ones. */
  forget(): void {
    this.#taken = [];
  }
}
