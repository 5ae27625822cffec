// Which ticks of a trigger have been claimed (CR1), in little memory: a trigger that ticks every second for a year is
// one interval of time, in which every tick is claimed. And the messages between the cron module and its store.

/** From the first claimed tick to the last, both included. */
type Interval = readonly [fromMs: number, toMs: number];

/** In time order; the intervals do not overlap. */
export type ClaimedTicks = readonly Interval[];

/** A new interval begins where ticks were missed and where the clock was set back. This is the limit of intervals. */
const INTERVALS_MAX = 32;

/**
 * With this tick claimed; undefined if it was claimed before. `follows`: every tick between the last claimed one and
 * this one was claimed or left out on purpose, so that the interval may grow over them.
 */
export function claimTick(claimed: ClaimedTicks, atMs: number, follows: boolean): ClaimedTicks | undefined {
  if (claimed.some(([fromMs, toMs]) => fromMs <= atMs && atMs <= toMs)) return undefined;
  const before = claimed.filter(([, toMs]) => toMs < atMs).sort((a, b) => b[1] - a[1])[0];
  if (!follows || before === undefined) return bounded([...claimed, [atMs, atMs] as const]);
  return claimed.map((interval) => (interval === before ? ([interval[0], atMs] as const) : interval));
}

/** Over the limit, the two oldest are merged: ticks between them count as claimed, so that nothing runs twice. */
function bounded(intervals: readonly Interval[]): ClaimedTicks {
  const [first, second, ...rest] = [...intervals].sort((a, b) => a[0] - b[0]);
  if (first === undefined || second === undefined) return intervals;
  return intervals.length > INTERVALS_MAX ? [[first[0], second[1]], ...rest] : [first, second, ...rest];
}

/** The latest claimed tick. */
export function lastClaimed(claimed: ClaimedTicks): number | undefined {
  return claimed.length === 0 ? undefined : Math.max(...claimed.map(([, toMs]) => toMs));
}

/** What is kept of a trigger. */
export interface CronRecord {
  /** Since when the trigger has existed without interruption; Unix milliseconds. */
  sinceMs: number;
  /** When it was removed: ticks that are due until it returns are not run. */
  releasedMs?: number | undefined;
  claimed: ClaimedTicks;
}

/** A trigger and a tick of it. */
interface TickInput {
  trigger: string;
  atMs: number;
  /** See `claimTick`. */
  follows: boolean;
}

export interface ClaimInput {
  ticks: TickInput[];
}

export interface ClaimAnswer {
  won: boolean[];
}

export interface TriggerInput {
  trigger: string;
}

export interface OpenAnswer {
  /** The time up to which its ticks were checked before; null for a trigger that is new, or was away. */
  settledMs: number | null;
}
