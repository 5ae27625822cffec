// The pieces of log text. Terminal colours become colour names for the page's own styles, all other terminal commands
// are removed, and nothing is passed on as markup. Only http and https addresses become links (LOG-2). Words of a
// search or a highlight are marked (LOG-6).

export interface AnsiRun {
  readonly text: string;
  /** One of the sixteen names, where the text sets one. */
  readonly colour: AnsiColour | null;
  readonly isBold: boolean;
}

export const ANSI_COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;
export type AnsiColour = (typeof ANSI_COLOURS)[number];

const ESC = '\u001b';
const BELL = '\u0007';
/** The one-character form of `ESC [`. */
const CSI = '\u009b';
/** Colours, all other commands, window titles, links, and single escapes. Only the first has groups. */
const SEQUENCE = new RegExp(
  [
    `${ESC}\\[([0-9;:?]*)[ -/]*([@-~])`,
    `${ESC}\\][^${BELL}${ESC}]*(?:${BELL}|${ESC}\\\\)?`,
    `${ESC}[@-Z\\\\-_]`,
    `${CSI}[0-9;]*[@-~]`,
  ].join('|'),
  'g',
);

export function stripAnsi(text: string): string {
  return text.includes(ESC) || text.includes(CSI) ? text.replace(SEQUENCE, '') : text;
}

export function ansiRuns(text: string): AnsiRun[] {
  const runs: AnsiRun[] = [];
  let colour: AnsiColour | null = null;
  let isBold = false;
  let from = 0;
  const push = (to: number): void => {
    if (to > from) runs.push({ text: text.slice(from, to), colour, isBold });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    push(match.index);
    from = match.index + match[0].length;
    if (match[2] !== 'm') continue;
    for (const code of codesOf(match[1] ?? '')) {
      if (code === 0) [colour, isBold] = [null, false];
      else if (code === 1) isBold = true;
      else if (code === 22) isBold = false;
      else if (code === 39) colour = null;
      else colour = colourOf(code) ?? colour;
    }
  }
  push(text.length);
  return runs;
}

/** The codes of 256 and of true colours are skipped as a whole: their numbers mean something else. */
function codesOf(parameters: string): number[] {
  const numbers = parameters.split(/[;:]/).map((part) => (part === '' ? 0 : Number(part)));
  const codes: number[] = [];
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at] ?? 0;
    if (code === 38 || code === 48) at += numbers[at + 1] === 5 ? 2 : 4;
    else codes.push(code);
  }
  return codes;
}

function colourOf(code: number): AnsiColour | undefined {
  if (code >= 30 && code <= 37) return ANSI_COLOURS[code - 30];
  if (code >= 90 && code <= 97) return ANSI_COLOURS[code - 90];
  return undefined;
}

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
