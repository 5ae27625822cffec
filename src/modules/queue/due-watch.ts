// Notifies the runner of a queue when the next waiting job is due: by the monotonic clock, regardless of changes of the
// wall clock (Q4). A change of the wall clock is reported too: it counts across a restart, so the store has to read it
// soon.

import type { Clock } from '../../effects/clock.ts';

/** The longest single timer. */
const LOOK_MS_MAX = 1_000;
/** Two clocks that are not set differ by far less. */
const SET_MS_MIN = 500;

export class DueWatch {
  readonly #clock: Pick<Clock, 'after' | 'monotonicMs' | 'nowMs'>;
  readonly #look: () => void;
  #cancel: (() => void) | undefined;

  /** `look`: something is due, or the wall clock was set. */
  constructor(clock: Pick<Clock, 'after' | 'monotonicMs' | 'nowMs'>, look: () => void) {
    this.#clock = clock;
    this.#look = look;
  }

  /**
   * Replaces the previous time. `isWithheld`: a job was due when jobs were claimed, and was not handed out, because its
   * queue is paused or works elsewhere.
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
