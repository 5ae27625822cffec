// How many ticks a span of time contained, and which was the last of them.

import type { Schedule } from './schedule.ts';
import { SECOND_MS } from './units.ts';

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
