// When an expression is due in a time zone: from a moment to the next due one, across all changes of the local clock.
//
// Where the clock is put forward or back:
//   - Times with `*` as the hour follow elapsed time: times that the clock skips do not happen, and the hour that comes
//     twice has them twice. "Every 10 minutes" is every 10 minutes.
//   - All other times happen once a day. A skipped time happens at the moment of the change; in the hour that comes
//     twice, the first time counts.
//
// And which ticks a span of time contained, for those that were missed.

import type { CronTimes } from './expression.ts';
import { nextLocal } from './next-local.ts';
import { SECOND_MS, type TimeZone } from './time-zone.ts';

/** Longer than any time zone puts its clock forward or back within a day. */
const CHANGE_MS_MAX = 3 * 3_600_000;

export class Schedule {
  readonly #times: CronTimes;
  readonly #zone: TimeZone;

  constructor(times: CronTimes, zone: TimeZone) {
    this.#times = times;
    this.#zone = zone;
  }

  /** The first moment after this one, a whole second; undefined when there will be none. */
  next(afterMs: number): number | undefined {
    const after = Math.floor(afterMs / SECOND_MS) * SECOND_MS;
    if (this.#zone.isUtc) return nextLocal(this.#times, after);
    return this.#times.isEveryHour ? this.#nextAsTimePasses(after) : this.#nextOnTheWall(after);
  }

  /** For times that happen once a day. */
  #nextOnTheWall(after: number): number | undefined {
    let local = nextLocal(this.#times, after + this.#zone.offsetAt(after));
    while (local !== undefined) {
      const { ms } = this.#zone.momentOf(local);
      if (ms > after) return ms;
      // Its first time is over and `after` lies in the second: continue after the hour that comes twice.
      const change = this.#zone.changeBetween(ms, after) ?? after;
      local = nextLocal(this.#times, change + this.#zone.offsetAt(ms) - SECOND_MS);
    }
    return undefined;
  }

  /** For times with `*` as the hour. */
  #nextAsTimePasses(after: number): number | undefined {
    const zone = this.#zone;
    let start = after;
    let offset = zone.offsetAt(start);
    let local = nextLocal(this.#times, start + offset);
    while (local !== undefined) {
      const ms = local - offset;
      const isNear = ms <= start + CHANGE_MS_MAX;
      const change = zone.changeBetween(start, isNear ? ms : start + CHANGE_MS_MAX);
      if (change === undefined && isNear) return ms;
      const moment = change === undefined ? zone.momentOf(local) : undefined;
      if (moment !== undefined && moment.kind !== 'never') return moment.ms;
      // Search again from the change on, including that moment.
      start = change ?? moment?.ms ?? ms;
      offset = zone.offsetAt(start);
      local = nextLocal(this.#times, start + offset - SECOND_MS);
    }
    return undefined;
  }
}

/** How many ticks a span of time contained, and which was the last of them. */
export interface Missed {
  readonly count: number;
  /** There were more: they were not counted one by one. */
  readonly isAtLeast: boolean;
  /** The last of them. Without any, and where it is too long ago to matter, the first one. */
  readonly lastMs: number;
}

/** How old a missed tick may be to be made up for (CR2). */
export const MISFIRE_MS_MAX = 3_600_000;
const MINUTE_MS = 60_000;

/** The ticks after one moment, up to and including another one. */
export function missedTicks(schedule: Schedule, afterMs: number, upToMs: number, countMax: number): Missed {
  let count = 0;
  let lastMs = afterMs;
  for (let at = schedule.next(afterMs); at !== undefined && at <= upToMs; at = schedule.next(at)) {
    if (count === countMax) return { count, isAtLeast: true, lastMs: lastIn(schedule, lastMs, upToMs) };
    count++;
    lastMs = at;
  }
  return { count, isAtLeast: false, lastMs };
}

/** The last tick of a long span, searched from its end. */
function lastIn(schedule: Schedule, knownMs: number, upToMs: number): number {
  for (const windowMs of [SECOND_MS, MINUTE_MS, MISFIRE_MS_MAX]) {
    const last = missedTicks(schedule, Math.max(knownMs, upToMs - windowMs), upToMs, Number.POSITIVE_INFINITY);
    if (last.count > 0) return last.lastMs;
  }
  return knownMs;
}
