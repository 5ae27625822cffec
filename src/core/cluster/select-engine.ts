// Which of the engines that reach a function gets a call that no worker of this engine takes.

export interface Reachable {
  readonly isUp: boolean;
  readonly hasRoom: boolean;
  readonly isDraining: boolean;
  readonly zone: string | undefined;
  /** Calls of this engine that it has in flight. */
  readonly inFlight: number;
  /** All calls that it had in flight when it last reported. */
  readonly callsInFlight: number;
}

/**
 * The one with the fewest calls in flight, one in the same zone before all others, ties at random. One that drains is
 * the last choice. `undefined`: none can be reached, or none has room.
 */
export function selectEngine<R extends Reachable>(
  engines: readonly R[],
  ownZone: string | undefined,
  fraction: () => number,
): R | undefined {
  let best: R | undefined;
  let ties = 0;
  for (const engine of engines) {
    if (!engine.isUp || !engine.hasRoom) continue;
    const order = best === undefined ? -1 : compare(engine, best, ownZone);
    if (order > 0) continue;
    // Each of n equal ones ends up chosen with the probability 1/n.
    ties = order < 0 ? 1 : ties + 1;
    if (order < 0 || fraction() * ties < 1) best = engine;
  }
  return best;
}

/** Below zero: `a` is the better choice. */
function compare(a: Reachable, b: Reachable, ownZone: string | undefined): number {
  if (a.isDraining !== b.isDraining) return a.isDraining ? 1 : -1;
  if (a.zone !== b.zone && ownZone !== undefined) {
    if (a.zone === ownZone) return -1;
    if (b.zone === ownZone) return 1;
  }
  return a.inFlight + a.callsInFlight - (b.inFlight + b.callsInFlight);
}
