// The changes of one value since this page opened it (STA-4): the last 50. Pure.

export interface ValueChange {
  readonly atMs: number;
  /** As stored; undefined: there was no entry. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Writes between the two reads: those in between were faster than the page. */
  readonly writes: number;
}

export const CHANGES_KEPT = 50;

/** Oldest first. A read that finds the same text again is not a change. */
export function withChange(changes: readonly ValueChange[], change: ValueChange): readonly ValueChange[] {
  if (change.before === change.after) return changes;
  return [...changes, change].slice(-CHANGES_KEPT);
}
