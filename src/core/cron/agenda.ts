// Which ticks of which jobs are to run now. Pure: the caller passes the time in.
//
// Job: keep every job's next tick; separate late ticks, which still run, from missed ones, which do not (CR2, CR3).
// Neighbours: `schedule.ts` computes the times, `modules/cron/runner.ts` checks at least every second and claims before
// it calls.
// Invariants:
//   - Checks return every tick of the time since the previous check exactly once, as a run or as a missed one.
//   - A tick is missed when no engine could have run it in its time: the clock was set forward over it, or the process
//     slept. A busy process is late, and runs its late ticks.
//   - Where the clock was set back, ticks come again: the claim decides whether they run (CR1).

import { type Due, DueQueue } from '../calls/due-queue.ts';
import { MISFIRE_MS_MAX, type Missed, missedTicks, type Schedule } from './schedule.ts';

export interface AgendaJob extends Due {
  readonly schedule: Schedule;
  readonly misfire: 'skip' | 'once';
  /** Whether the next due tick directly follows one that was checked. */
  follows: boolean;
}

export interface Run<J> {
  readonly job: J;
  readonly atMs: number;
  readonly follows: boolean;
}

export interface Look<J> {
  /** In time order for each job. */
  readonly runs: Run<J>[];
  readonly missed: (Missed & { readonly job: J })[];
}

/**
 * The wall clock against the monotonic clock: a larger difference means that the clock was set, or the machine slept.
 */
const JUMP_MS_MIN = 1_000;
/** Checks are at most a second apart; a process that did not check for this long was stopped. */
const SLEEP_MS_MIN = 10_000;
/**
 * How many missed ticks are counted one by one from one check to the next, of all jobs together: a hundred triggers of
 * every second that return after a day would block the process for minutes. Beyond it the count is reported as a
 * minimum.
 */
const COUNTED_MAX = 2_000;
/**
 * Runs of one check, where nothing was missed; the others are still due at the next one, at once. So the first of a
 * thousand ticks of one second run while others are being claimed: their median lateness is two thirds of what it is
 * with all in one check.
 */
const RUNS_MAX = 128;

export class Agenda<J extends AgendaJob> {
  readonly #queue = new DueQueue<J>();
  /** Wall clock and monotonic clock at the last check. */
  #last: { readonly nowMs: number; readonly risingMs: number } | undefined;
  /** Missed ticks that may still be counted before the next check. */
  #countable = COUNTED_MAX;

  get size(): number {
    return this.#queue.size;
  }

  /** The wall-clock time of the next check; undefined when nothing is planned. */
  get nextMs(): number | undefined {
    return this.#queue.first?.dueMs;
  }

  /**
   * From `afterMs` on. `settledMs`: the time up to which the ticks of this job were checked in an earlier run; ticks
   * between the two were missed, and are returned.
   */
  add(job: J, afterMs: number, settledMs: number | undefined): Look<J> {
    const look: Look<J> = { runs: [], missed: [] };
    const dueMs = job.schedule.next(afterMs);
    job.follows = settledMs !== undefined && job.schedule.next(settledMs) === dueMs;
    if (settledMs !== undefined && !job.follows) this.#miss(job, settledMs, afterMs, look);
    if (dueMs !== undefined) this.#queue.add(job, dueMs);
    return look;
  }

  remove(job: J): void {
    this.#queue.remove(job);
  }

  look(nowMs: number, risingMs: number): Look<J> {
    const last = this.#last ?? { nowMs, risingMs };
    this.#last = { nowMs, risingMs };
    this.#countable = COUNTED_MAX;
    const elapsedMs = risingMs - last.risingMs;
    const expectedMs = last.nowMs + elapsedMs;
    if (nowMs < expectedMs - JUMP_MS_MIN) this.#replan(nowMs);
    const wasSetForward = nowMs > expectedMs + JUMP_MS_MIN;
    const slept = elapsedMs > SLEEP_MS_MIN;
    // Ticks due up to here could run in their time, or are only late.
    return this.#take(nowMs, slept ? last.nowMs : wasSetForward ? expectedMs : nowMs);
  }

  #take(nowMs: number, horizonMs: number): Look<J> {
    const look: Look<J> = { runs: [], missed: [] };
    // Missed and late ticks are separated by this check alone, so all of them are taken.
    const runsMax = horizonMs < nowMs ? Number.POSITIVE_INFINITY : RUNS_MAX;
    for (let job = this.#queue.first; job !== undefined && job.dueMs <= nowMs; job = this.#queue.first) {
      const atMs = job.dueMs;
      this.#queue.remove(job);
      let settledMs = atMs;
      if (atMs <= horizonMs) {
        look.runs.push({ job, atMs, follows: job.follows });
        job.follows = true;
      } else {
        settledMs = nowMs;
        this.#miss(job, atMs - 1, nowMs, look);
        job.follows = false;
      }
      const dueMs = job.schedule.next(settledMs);
      if (dueMs !== undefined) this.#queue.add(job, dueMs);
      if (look.runs.length >= runsMax) break;
    }
    return look;
  }

  /** Records the ticks after one moment up to another as missed. */
  #miss(job: J, afterMs: number, upToMs: number, look: Look<J>): void {
    const missed = missedTicks(job.schedule, afterMs, upToMs, Math.max(this.#countable, 1));
    if (missed.count === 0) return;
    this.#countable -= missed.count;
    look.missed.push({ ...missed, job });
    if (job.misfire === 'once' && upToMs - missed.lastMs <= MISFIRE_MS_MAX) {
      look.runs.push({ job, atMs: missed.lastMs, follows: false });
    }
  }

  #replan(nowMs: number): void {
    for (const job of [...this.#queue.items()]) {
      const dueMs = job.schedule.next(nowMs);
      this.#queue.remove(job);
      job.follows = false;
      if (dueMs !== undefined) this.#queue.add(job, dueMs);
    }
  }
}
