// A recent rate per second: counted by the second, without a timer, for ten seconds.

const SECONDS = 10;

export class RecentRate {
  readonly #counts = new Uint32Array(SECONDS);
  /** The second of each count. */
  readonly #seconds = new Float64Array(SECONDS).fill(Number.NEGATIVE_INFINITY);

  /** `nowMs` of a monotonic clock. */
  add(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    const at = second % SECONDS;
    if (this.#seconds[at] !== second) {
      this.#seconds[at] = second;
      this.#counts[at] = 0;
    }
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Over the last ten seconds, including the present one, which has just begun. */
  perSecond(nowMs: number): number {
    const second = Math.floor(nowMs / 1_000);
    let sum = 0;
    for (let at = 0; at < SECONDS; at++) {
      if ((this.#seconds[at] ?? 0) > second - SECONDS) sum += this.#counts[at] ?? 0;
    }
    return sum / SECONDS;
  }
}
