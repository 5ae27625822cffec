// Whether and when a worker process that ended, or could not be started, is started again. Pure: told what happened and
// at what time, it says what is to be done; the process itself belongs to `modules/project-workers`.
//
// Invariants:
//   V1  A process that ended against the will of its keeper is started again, ever later: 0.5 s, 1 s, 2 s … 30 s.
//   V2  One that ran for a minute had a good start: the next delay is the first one again.
//   V3  After ten ends within five minutes it is given up, until somebody starts it by hand.
//   V4  A start that fails counts as an end, the first one too.

/** What the keeper of a process is doing with it. */
export type SupervisedState =
  | 'stopped'
  | 'installing'
  | 'starting'
  | 'running'
  | 'stopping'
  | 'waiting_to_restart'
  | 'crash_loop';

export const FIRST_DELAY_MS = 500;
export const DELAY_MS_MAX = 30_000;
export const GOOD_START_MS = 60_000;
export const CRASHES_MAX = 10;
export const CRASH_WINDOW_MS = 5 * 60_000;

export type AfterEnd = { readonly verb: 'restart'; readonly delayMs: number } | { readonly verb: 'give_up' };

export class CrashHistory {
  readonly #endsMs: number[] = [];
  #delayMs = FIRST_DELAY_MS;

  /** The process ended by itself, having run for so long. */
  ended(nowMs: number, ranMs: number): AfterEnd {
    if (ranMs >= GOOD_START_MS) this.#delayMs = FIRST_DELAY_MS;
    this.#endsMs.push(nowMs);
    while ((this.#endsMs[0] ?? nowMs) < nowMs - CRASH_WINDOW_MS) this.#endsMs.shift();
    if (this.#endsMs.length >= CRASHES_MAX) return { verb: 'give_up' };
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, DELAY_MS_MAX);
    return { verb: 'restart', delayMs };
  }

  /** Somebody started it by hand: what was is forgotten. */
  forget(): void {
    this.#endsMs.length = 0;
    this.#delayMs = FIRST_DELAY_MS;
  }
}
