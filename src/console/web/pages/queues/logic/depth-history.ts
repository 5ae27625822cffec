// The depth of each queue in the last minute, one value a second (QUE-1). Pure: the caller keeps the value and the
// clock.

export type DepthHistory = ReadonlyMap<string, readonly number[]>;

export const DEPTHS_KEPT = 60;

interface Depth {
  readonly name: string;
  readonly waiting: number;
  /** `null`: not counted. */
  readonly delayed: number | null;
  readonly running: number;
  readonly retrying: number | null;
  readonly waiting_for_worker: number;
}

/** All unfinished jobs. Dead letters wait for people, not for workers. */
export function depthOf({ waiting, delayed, running, retrying, waiting_for_worker }: Depth): number {
  return waiting + (delayed ?? 0) + running + (retrying ?? 0) + waiting_for_worker;
}

/** Queues that are gone are removed. */
export function withDepths(history: DepthHistory, rows: readonly Depth[]): DepthHistory {
  return new Map(
    rows.map((row) => [row.name, [...(history.get(row.name) ?? []), depthOf(row)].slice(-DEPTHS_KEPT)] as const),
  );
}
