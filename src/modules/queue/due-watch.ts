// Tells the runner of a queue when the next job that waits is due: by the monotonic clock, whatever the clock on the
// wall is set to (Q4). That it was set is told too: it counts over a restart, so the store has to read it soon.

import type { Clock } from '../../effects/clock.ts';

/** Nothing is waited for in one go for longer. */
const LOOK_MS_MAX = 1_000;
/** Left alone, the two clocks stay together far better than that. */
const SET_MS_MIN = 500;

export class DueWatch {
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs' | 'nowMs'>;
  readonly #look: () => void;
  #cancel: (() => void) | undefined;

  /** `look`: something is due, or the clock on the wall was set. */
  constructor(clock: Pick<Clock, 'after' | 'monotonicMs' | 'nowMs'>, look: () => void) {
    this.#clock = clock;
    this.#look = look;
  }

  /**
   * In place of what was waited for before. `isWithheld`: it was due when jobs were asked for, and was not handed out,
   * as its queue is paused or works elsewhere.
   */
  wait(dueMs: number, isWithheld: boolean): void {
    this.stop();
    this.#wait(isWithheld ? this.#clock.monotonicMs() + LOOK_MS_MAX : dueMs, this.#wallAheadMs);
  }

  stop(): void {
    this.#cancel?.();
  }

  #wait(dueMs: number, wallAheadMs: number): void {
    const leftMs = dueMs - this.#clock.monotonicMs();
    this.#cancel = this.#clock.after(Math.min(LOOK_MS_MAX, Math.max(1, leftMs)), () => {
      const isDue = this.#clock.monotonicMs() >= dueMs;
      const wasSet = Math.abs(this.#wallAheadMs - wallAheadMs) >= SET_MS_MIN;
      if (isDue || wasSet) this.#look();
      else this.#wait(dueMs, wallAheadMs);
    });
  }

  get #wallAheadMs(): number {
    return this.#clock.nowMs() - this.#clock.monotonicMs();
  }
}
