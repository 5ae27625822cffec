// Limits the log lines of a lasting problem: the first line is written at once, then one per minute.

import type { PlatformClock } from './platform.ts';

export class OncePerMinute {
  readonly #clock: PlatformClock;
  #lastMs: number | undefined;
  #suppressed = 0;

  constructor(clock: PlatformClock) {
    this.#clock = clock;
  }

  /** Calls `write` if a line is due, with the number of lines suppressed since the last one. */
  write(write: (suppressed: number) => void): void {
    const nowMs = this.#clock.monotonicMs();
    if (this.#lastMs !== undefined && nowMs - this.#lastMs < MINUTE_MS) {
      this.#suppressed++;
      return;
    }
    const suppressed = this.#suppressed;
    this.#lastMs = nowMs;
    this.#suppressed = 0;
    write(suppressed);
  }

  /** The problem is over: the next one is logged at once. */
  reset(): void {
    this.#lastMs = undefined;
    this.#suppressed = 0;
  }
}

const MINUTE_MS = 60_000;
