// What happened how often, by name and reason: everything that was dropped, refused or came too late (guarantees 1.3).

export class Counters {
  readonly #counts = new Map<string, number>();

  count(name: string, reason?: string, times = 1): void {
    const key = reason === undefined ? name : `${name}{${reason}}`;
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
