/** Share of the longer word that may differ; beyond it a suggestion confuses more than it helps. */
const DIFFERENT_SHARE_MAX = 0.4;

/**
 * The candidates that a misspelt word may have meant, closest first; none when all are too different. Case is ignored.
 */
export function nearestWords(word: string, candidates: Iterable<string>): readonly string[] {
  const close: { readonly candidate: string; readonly distance: number }[] = [];
  for (const candidate of candidates) {
    const distanceMax = Math.floor(Math.max(word.length, candidate.length) * DIFFERENT_SHARE_MAX);
    // The lengths alone give a lower bound, so that a very long word costs nothing.
    if (Math.abs(word.length - candidate.length) > distanceMax) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= distanceMax) close.push({ candidate, distance });
  }
  return close.sort((one, other) => one.distance - other.distance).map(({ candidate }) => candidate);
}

/** The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
