// How long this process could receive nothing because it was stopped or busy: that time is its own silence, and must
// not count as that of its clients (W1).

export class OwnSilence {
  readonly #intervalMs: number;
  #lastCheckMs: number;

  /** Clients are checked every `intervalMs`. */
  constructor(intervalMs: number, nowMs: number) {
    this.#intervalMs = intervalMs;
    this.#lastCheckMs = nowMs;
  }

  /** To be called once at each check; 0 unless the check is late by more than one interval. */
  sinceLastCheck(nowMs: number): number {
    const lateMs = nowMs - this.#lastCheckMs - this.#intervalMs;
    this.#lastCheckMs = nowMs;
    return lateMs > this.#intervalMs ? lateMs : 0;
  }
}
