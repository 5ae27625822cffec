// Counts of events by name and reason: everything that was dropped, refused or late (guarantees 1.3).

/** Names are constants, and so are nearly all reasons: further reasons of a name count as `other`. */
const COUNTS_MAX = 4_096;

export class Counters {
  readonly #counts = new Map<string, number>();

  count(name: string, reason?: string, times = 1): void {
    const exact = reason === undefined ? name : `${name}{${reason}}`;
    const isExact = reason === undefined || this.#counts.has(exact) || this.#counts.size < COUNTS_MAX;
    const key = isExact ? exact : `${name}{other}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + times);
  }

  get(name: string, reason?: string): number {
    return this.#counts.get(reason === undefined ? name : `${name}{${reason}}`) ?? 0;
  }

  /** All counts, sorted by name. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.#counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
