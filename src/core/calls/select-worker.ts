// Which of the workers that offer a function gets the next call (I6), and what the pure tables need to know of a worker
// connection. The router's session implements `Executor`. Ownership is by the object, which is never used for another
// connection, and never by a name (W3).

export interface Executor {
  /** Calls handed to it that have no result yet. */
  inFlight: number;
  readonly inFlightMax: number;
  /** Another router of the process, which counts its calls. */
  readonly isRouter?: boolean;
  /** False once it is closed, or while too much waits for it unread: no new call may be handed to it. */
  readonly isAccepting: boolean;
}

export type Balance = 'least_in_flight' | 'newest' | 'reject_duplicates';

/** The candidates of one function, with the position where the next search begins so that ties rotate. */
export interface Candidates<E extends Executor> {
  readonly executors: readonly E[];
  next: number;
}

/**
 * The accepting worker with the fewest calls in flight, ties in rotation; with `newest` the last that registered.
 * `undefined`: every worker is at its limit or closing.
 */
export function selectWorker<E extends Executor>(candidates: Candidates<E>, balance: Balance): E | undefined {
  const { executors } = candidates;
  const count = executors.length;
  if (count === 1 || balance === 'newest') return usable(executors[count - 1]);
  let best: E | undefined;
  let bestIndex = 0;
  for (let step = 0; step < count; step++) {
    const index = (candidates.next + step) % count;
    const executor = usable(executors[index]);
    if (executor === undefined || (best !== undefined && executor.inFlight >= best.inFlight)) continue;
    best = executor;
    bestIndex = index;
    if (best.inFlight === 0) break;
  }
  if (best !== undefined) candidates.next = (bestIndex + 1) % count;
  return best;
}

function usable<E extends Executor>(executor: E | undefined): E | undefined {
  return executor?.isAccepting && executor.inFlight < executor.inFlightMax ? executor : undefined;
}
