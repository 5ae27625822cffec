// Words inside a text, ignoring case: the matches of a search or a highlight (LOG-6).

export interface MarkedPiece {
  readonly text: string;
  readonly isMarked: boolean;
}

export function markPieces(text: string, words: readonly string[]): MarkedPiece[] {
  const wanted = words.filter((word) => word !== '');
  if (wanted.length === 0) return [{ text, isMarked: false }];
  // Longest first, so that a word that is the beginning of another does not cut it short.
  const sorted = [...wanted]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pieces: MarkedPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(new RegExp(sorted.join('|'), 'gi'))) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), isMarked: false });
    pieces.push({ text: match[0], isMarked: true });
    from = match.index + match[0].length;
  }
  if (from < text.length || pieces.length === 0) pieces.push({ text: text.slice(from), isMarked: false });
  return pieces;
}
