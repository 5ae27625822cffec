// The changes of one value that this page saw (STA-4): the last 50, to step through. Pure.

export interface ValueChange {
  readonly atMs: number;
  /** As stored; undefined: there was none. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Writes between the two readings: those in between were quicker than the page. */
  readonly writes: number;
}

export const CHANGES_KEPT = 50;

/** Oldest first. A reading that finds the same text again is no change. */
export function withChange(changes: readonly ValueChange[], change: ValueChange): readonly ValueChange[] {
  if (change.before === change.after) return changes;
  return [...changes, change].slice(-CHANGES_KEPT);
}
