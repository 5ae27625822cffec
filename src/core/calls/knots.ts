// Workers that wait for each other: all of their places are taken by handlers whose calls wait for those very places.
//
// A worker is in a knot if it is at its limit, has as many pending calls of its handlers as it runs handlers, and each
// of these calls can run only on workers of the knot, or runs there. A call that can end elsewhere loosens it.

export interface PendingOf<E> {
  /** The worker whose handler made the call. */
  readonly caller: E;
  /** The workers that run it, or can run it; empty: the engine does. */
  readonly targets: readonly E[];
}

interface Full {
  readonly inFlight: number;
  readonly inFlightMax: number;
}

export function workersInKnots<E extends Full>(pending: Iterable<PendingOf<E>>): Set<E> {
  const byCaller = new Map<E, PendingOf<E>[]>();
  for (const call of pending) {
    const calls = byCaller.get(call.caller);
    if (calls === undefined) byCaller.set(call.caller, [call]);
    else calls.push(call);
  }
  const knotted = new Set<E>();
  for (const [worker, calls] of byCaller) {
    const isFull = worker.inFlight >= worker.inFlightMax;
    if (isFull && calls.length >= worker.inFlight) knotted.add(worker);
  }
  const isInside = ({ targets }: PendingOf<E>): boolean =>
    targets.length > 0 && targets.every((target) => knotted.has(target));
  for (let before = -1; before !== knotted.size; ) {
    before = knotted.size;
    for (const worker of knotted) {
      if (byCaller.get(worker)?.every(isInside) !== true) knotted.delete(worker);
    }
  }
  return knotted;
}
