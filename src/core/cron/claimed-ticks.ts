// Which ticks of a trigger have been claimed (CR1), in little memory: a trigger that ticks every second for a year is
// one interval of time, in which every tick is claimed.

/** From the first claimed tick to the last, both included. */
export type Stretch = readonly [fromMs: number, toMs: number];

/** In time order; the intervals do not overlap. */
export type ClaimedTicks = readonly Stretch[];

/** A new interval begins where ticks were missed and where the clock was set back. This is the limit of intervals. */
const STRETCHES_MAX = 32;

/**
 * With this tick claimed; undefined if it was claimed before. `follows`: every tick between the last claimed one and
 * this one was claimed or left out on purpose, so that the interval may grow over them.
 */
export function claimTick(claimed: ClaimedTicks, atMs: number, follows: boolean): ClaimedTicks | undefined {
  if (claimed.some(([fromMs, toMs]) => fromMs <= atMs && atMs <= toMs)) return undefined;
  const before = claimed.filter(([, toMs]) => toMs < atMs).sort((a, b) => b[1] - a[1])[0];
  if (!follows || before === undefined) return bounded([...claimed, [atMs, atMs] as const]);
  return claimed.map((stretch) => (stretch === before ? ([stretch[0], atMs] as const) : stretch));
}

/** Over the limit, the two oldest are merged: ticks between them count as claimed, so that nothing runs twice. */
function bounded(stretches: readonly Stretch[]): ClaimedTicks {
  const [first, second, ...rest] = [...stretches].sort((a, b) => a[0] - b[0]);
  if (first === undefined || second === undefined) return stretches;
  return stretches.length > STRETCHES_MAX ? [[first[0], second[1]], ...rest] : [first, second, ...rest];
}

/** The latest claimed tick. */
export function lastClaimed(claimed: ClaimedTicks): number | undefined {
  return claimed.length === 0 ? undefined : Math.max(...claimed.map(([, toMs]) => toMs));
}
