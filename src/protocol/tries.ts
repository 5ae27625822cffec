// Whether to try again what failed. Values of a kind come in rows: those that do not fit are tried ever less often.

export class Tries {
  /** Failures in a row, and how many more occasions are to pass without a try. */
  #failures = 0;
  #skips = 0;

  next(): boolean {
    if (this.#skips === 0) return true;
    this.#skips--;
    return false;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures = Math.min(this.#failures + 1, FAILURES_COUNTED_MAX);
    this.#skips = 2 ** this.#failures - 2;
  }
}

/** Up to 62 occasions in a row are then passed over. */
const FAILURES_COUNTED_MAX = 6;
