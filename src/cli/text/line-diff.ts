// Compares two values as JSON, line by line: removed, added and equal lines.

export interface DiffLine {
  readonly kind: 'gone' | 'new' | 'same';
  readonly text: string;
}

/** With more pairs of lines the comparison takes too long: all lines count as changed. */
const PAIRS_MAX = 4_000_000;

/** The differing lines of two texts, marked. */
export function changedLines(before: string, after: string): string[] {
  return diffLines(before.split('\n'), after.split('\n'))
    .filter(({ kind }) => kind !== 'same')
    .map(({ kind, text }) => `${kind === 'new' ? '+' : '-'} ${text}`);
}

/** `undefined`: there is no value, so no lines. */
export function diffValues(before: unknown, after: unknown): DiffLine[] {
  return diffLines(linesOf(before), linesOf(after));
}

function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length * after.length > PAIRS_MAX) {
    return [
      ...before.map((text) => ({ kind: 'gone', text }) as const),
      ...after.map((text) => ({ kind: 'new', text }) as const),
    ];
  }
  const common = commonLengths(before, after);
  const width = after.length + 1;
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [gone, added] = [before[row], after[column]];
    if (gone !== undefined && gone === added) {
      lines.push({ kind: 'same', text: gone });
      row++;
      column++;
    } else if (added === undefined || (gone !== undefined && isGoneFirst(common, width, row, column))) {
      lines.push({ kind: 'gone', text: gone ?? '' });
      row++;
    } else {
      lines.push({ kind: 'new', text: added });
      column++;
    }
  }
  return lines;
}

function isGoneFirst(common: Uint32Array, width: number, row: number, column: number): boolean {
  return (common[(row + 1) * width + column] ?? 0) >= (common[row * width + column + 1] ?? 0);
}

/** Length of the longest common subsequence from each pair of positions to the ends. */
function commonLengths(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      const at = row * width + column;
      const isSame = before[row] === after[column];
      const [below = 0, right = 0] = [lengths[at + width], lengths[at + 1]];
      lengths[at] = isSame ? (lengths[at + width + 1] ?? 0) + 1 : Math.max(below, right);
    }
  }
  return lengths;
}

function linesOf(value: unknown): string[] {
  return value === undefined ? [] : JSON.stringify(value, undefined, 2).split('\n');
}
