// Whether and when a worker process that ended, or could not be started, is restarted. Pure: events and times in,
// decisions out; the process itself belongs to `modules/project-workers`.
//
// Invariants:
//   - A process that ended unexpectedly is restarted after a growing delay: 0.5 s, 1 s, 2 s … 30 s.
//   - A process that ran for a minute counts as started: the next delay is the first one again.
//   - After ten ends within five minutes it is given up, until a user starts it.
//   - A start that fails counts as an end, the first one too.

/** The state of the supervised process. */
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

  /** The process ended by itself, after running for this long. */
  ended(nowMs: number, ranMs: number): AfterEnd {
    if (ranMs >= GOOD_START_MS) this.#delayMs = FIRST_DELAY_MS;
    this.#endsMs.push(nowMs);
    while ((this.#endsMs[0] ?? nowMs) < nowMs - CRASH_WINDOW_MS) this.#endsMs.shift();
    if (this.#endsMs.length >= CRASHES_MAX) return { verb: 'give_up' };
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, DELAY_MS_MAX);
    return { verb: 'restart', delayMs };
  }

  /** A user started it: its history is forgotten. */
  forget(): void {
    this.#endsMs.length = 0;
    this.#delayMs = FIRST_DELAY_MS;
  }
}
