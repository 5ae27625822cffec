// Addresses inside a text (LOG-2). Only http and https become links.

export interface TextPiece {
  readonly text: string;
  readonly href: string | null;
}

const ADDRESS = /https?:\/\/[^\s<>"'`\\^{|}\p{Cc}\p{Cf}]+/gu;
/** Characters that end a sentence rather than an address. */
const TRAILING = /[.,;:!?)\]]+$/;

export function linkPieces(text: string): TextPiece[] {
  if (!text.includes('://')) return [{ text, href: null }];
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    const address = match[0].replace(TRAILING, '');
    if (!URL.canParse(address)) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), href: null });
    pieces.push({ text: address, href: address });
    from = match.index + address.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), href: null });
  return pieces;
}
