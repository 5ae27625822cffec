// The one matcher (X11): anchored at both ends, case sensitive, `*` is any run of characters including none, and every
// other character stands for itself. RBAC, event topics and sampling rules all use it.
//
// It takes time linear in the text and the pattern, whatever both contain: parts between stars are searched from left
// to right, each with Knuth-Morris-Pratt, because a plain search goes back over the same text again and again.

export const PATTERN_BYTES_MAX = 256;
export const PATTERN_STARS_MAX = 16;

export type ReadPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  /** The end of the sentence "The pattern …". */
  | { readonly ok: false; readonly reason: string };

export function readPattern(text: string): ReadPattern {
  if (text === '') return { ok: false, reason: 'is empty' };
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > PATTERN_BYTES_MAX) return { ok: false, reason: `has ${bytes} bytes; the limit is ${PATTERN_BYTES_MAX}` };
  const stars = text.split('*').length - 1;
  if (stars > PATTERN_STARS_MAX) return { ok: false, reason: `has ${stars} stars; the limit is ${PATTERN_STARS_MAX}` };
  return { ok: true, pattern: new Pattern(text) };
}

/** Created by `readPattern`, which limits its size. */
export class Pattern {
  readonly text: string;
  readonly #start: string;
  readonly #end: string;
  readonly #between: readonly Part[];
  readonly #hasStar: boolean;

  constructor(text: string) {
    const parts = text.split('*');
    this.text = text;
    this.#hasStar = parts.length > 1;
    this.#start = parts[0] ?? '';
    this.#end = parts.at(-1) ?? '';
    this.#between = parts
      .slice(1, -1)
      .filter((part) => part !== '')
      .map(partOf);
  }

  matches(text: string): boolean {
    if (!this.#hasStar) return text === this.text;
    let from = this.#start.length;
    const end = text.length - this.#end.length;
    if (end < from || !text.startsWith(this.#start) || !text.endsWith(this.#end)) return false;
    for (const part of this.#between) {
      from = endOfFirst(part, text, from, end);
      if (from < 0) return false;
    }
    return true;
  }
}

/** A text to be looked for. */
export interface Part {
  readonly text: string;
  /** For each position: the length of the longest prefix of the part that ends there. */
  readonly fallbacks: Uint16Array;
}

export function partOf(text: string): Part {
  return { text, fallbacks: fallbacksOf(text) };
}

function fallbacksOf(part: string): Uint16Array {
  const fallbacks = new Uint16Array(part.length);
  for (let at = 1, length = 0; at < part.length; at++) {
    while (length > 0 && part[at] !== part[length]) length = fallbacks[length - 1] ?? 0;
    if (part[at] === part[length]) length++;
    fallbacks[at] = length;
  }
  return fallbacks;
}

/** The position after the first occurrence of the part between `from` and `end`; -1 if there is none. */
export function endOfFirst({ text: part, fallbacks }: Part, text: string, from: number, end: number): number {
  let matched = 0;
  for (let at = from; at < end; at++) {
    while (matched > 0 && text[at] !== part[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (text[at] === part[matched]) matched++;
    if (matched === part.length) return at + 1;
  }
  return -1;
}
