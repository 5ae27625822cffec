// How many of something there were a second lately: counted by the second, without a timer, for ten of them.

const SECONDS = 10;

export class RecentRate {
  readonly #counts = new Uint32Array(SECONDS);
  /** The second of each count. */
  readonly #seconds = new Float64Array(SECONDS).fill(Number.NEGATIVE_INFINITY);

  /** `nowMs` of a clock that is never set back. */
  add(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    const at = second % SECONDS;
    if (this.#seconds[at] !== second) {
      this.#seconds[at] = second;
      this.#counts[at] = 0;
    }
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Over the last ten seconds, of which the present one has just begun. */
  perSecond(nowMs: number): number {
    const second = Math.floor(nowMs / 1_000);
    let sum = 0;
    for (let at = 0; at < SECONDS; at++) {
      if ((this.#seconds[at] ?? 0) > second - SECONDS) sum += this.#counts[at] ?? 0;
    }
    return sum / SECONDS;
  }
}
