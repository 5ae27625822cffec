// What one engine measured within the window of an alert rule. Engines of a cluster send each other theirs, because a
// mean cannot be computed from means.

export interface WindowPart {
  readonly sum: number;
  /** The value is the mean of so many. Absent: it is the sum. */
  readonly count?: number;
}

/** The value that a rule compares; `undefined`: nothing was measured. */
export function valueOfParts(parts: readonly WindowPart[]): number | undefined {
  if (parts.length === 0) return undefined;
  const sum = parts.reduce((total, part) => total + part.sum, 0);
  const count = parts.reduce((total, part) => total + (part.count ?? 0), 0);
  return count === 0 ? sum : sum / count;
}
