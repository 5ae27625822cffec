// Whether to try again after failures. The more attempts in a row have failed, the more occasions are skipped.

export class Tries {
  /** Failures in a row, and the number of occasions to skip before the next attempt. */
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

/** After that many failures 62 occasions in a row are skipped. */
const FAILURES_COUNTED_MAX = 6;
