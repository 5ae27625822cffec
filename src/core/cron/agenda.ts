// Which ticks of which jobs are to run now. Pure: whoever looks brings the time.
//
// Job: keep every job's next tick; tell late ticks, which still run, from missed ones, which do not (CR2, CR3).
// Neighbours: `schedule.ts` knows the times, `modules/cron/runner.ts` looks at least every second and claims before
// it calls.
// Invariants:
//   A1  Looks yield every tick of the time since the look before exactly once, as a run or as a missed one.
//   A2  A tick is missed when nobody could have run it in its time: the clock was set forward over it, or the process
//       slept. A busy process is late, and runs what it is late with.
//   A3  Where the clock was set back, ticks come again that were there before: whoever claims them decides (CR1).

import { type Due, DueQueue } from '../due-queue.ts';
import { MISFIRE_MS_MAX, type Missed, missedTicks } from './missed-ticks.ts';
import type { Schedule } from './schedule.ts';

export interface AgendaJob extends Due {
  readonly schedule: Schedule;
  readonly misfire: 'skip' | 'once';
  /** Whether the tick that is due next comes right behind one that was looked at. */
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

/** The wall clock against the one that only rises: what differs by more was set by somebody, or slept through. */
const JUMP_MS_MIN = 1_000;
/** Looks are at most a second apart; a process that did not look for so long was stopped. */
const SLEEP_MS_MIN = 10_000;
/**
 * How many missed ticks are counted one by one from one look to the next, of all jobs together: a hundred triggers of
 * every second that come back after a day would hold the process for minutes. Of more it is said that they are at
 * least so many.
 */
const COUNTED_MAX = 2_000;
/**
 * Runs of one look, where nothing was missed; the others are still due at the next one, at once. So the first of a
 * thousand ticks of one second run while others are being claimed: their median lateness is two thirds of what it is
 * with all in one look.
 */
const RUNS_MAX = 128;

export class Agenda<J extends AgendaJob> {
  readonly #queue = new DueQueue<J>();
  /** Wall clock and rising clock at the last look. */
  #last: { readonly nowMs: number; readonly risingMs: number } | undefined;
  /** Missed ticks that may still be counted before the next look. */
  #countable = COUNTED_MAX;

  get size(): number {
    return this.#queue.size;
  }

  /** When to look next, on the wall clock; undefined when nothing is planned. */
  get nextMs(): number | undefined {
    return this.#queue.first?.dueMs;
  }

  /**
   * From `afterMs` on. `settledMs`: up to where the ticks of this job were looked at in an earlier life; what lies
   * between was missed, and is returned.
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
    if (nowMs < expectedMs - JUMP_MS_MIN) this.#planAnew(nowMs);
    const wasSetForward = nowMs > expectedMs + JUMP_MS_MIN;
    const slept = elapsedMs > SLEEP_MS_MIN;
    // What was due up to here could run in its time, or is only late.
    return this.#take(nowMs, slept ? last.nowMs : wasSetForward ? expectedMs : nowMs);
  }

  #take(nowMs: number, horizonMs: number): Look<J> {
    const look: Look<J> = { runs: [], missed: [] };
    // What was missed is told from what is late by this look alone: then all of it is taken.
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

  /** Notes the ticks after one moment up to another as missed. */
  #miss(job: J, afterMs: number, upToMs: number, look: Look<J>): void {
    const missed = missedTicks(job.schedule, afterMs, upToMs, Math.max(this.#countable, 1));
    if (missed.count === 0) return;
    this.#countable -= missed.count;
    look.missed.push({ ...missed, job });
    if (job.misfire === 'once' && upToMs - missed.lastMs <= MISFIRE_MS_MAX) {
      look.runs.push({ job, atMs: missed.lastMs, follows: false });
    }
  }

  #planAnew(nowMs: number): void {
    for (const job of [...this.#queue.items()]) {
      const dueMs = job.schedule.next(nowMs);
      this.#queue.remove(job);
      job.follows = false;
      if (dueMs !== undefined) this.#queue.add(job, dueMs);
    }
  }
}
