// The one matcher (X11): anchored at both ends, case sensitive, `*` is any run of characters including none, and
// everything else stands for itself. RBAC, event topics and sampling rules all ask here.
//
// It takes time linear in the text and the pattern, whatever both contain: parts between stars are looked for from
// left to right, each by Knuth, Morris and Pratt, because a plain search goes back over the same text again and again.

export const PATTERN_BYTES_MAX = 256;
export const PATTERN_STARS_MAX = 16;

export type ReadPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  /** Ends the sentence "The pattern …". */
  | { readonly ok: false; readonly reason: string };

export function readPattern(text: string): ReadPattern {
  if (text === '') return { ok: false, reason: 'is empty' };
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > PATTERN_BYTES_MAX)
    return { ok: false, reason: `has ${bytes} bytes; at most ${PATTERN_BYTES_MAX} may be` };
  const stars = text.split('*').length - 1;
  if (stars > PATTERN_STARS_MAX)
    return { ok: false, reason: `has ${stars} stars; at most ${PATTERN_STARS_MAX} may be` };
  return { ok: true, pattern: new Pattern(text) };
}

/** Made by `readPattern`, which keeps it small. */
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
      .map((part) => ({ text: part, fallbacks: fallbacksOf(part) }));
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

interface Part {
  readonly text: string;
  /** For each place: how much of the part's beginning ends there again. */
  readonly fallbacks: Uint16Array;
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

/** Behind the first occurrence of the part that lies between `from` and `end`; -1 if there is none. */
function endOfFirst({ text: part, fallbacks }: Part, text: string, from: number, end: number): number {
  let matched = 0;
  for (let at = from; at < end; at++) {
    while (matched > 0 && text[at] !== part[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (text[at] === part[matched]) matched++;
    if (matched === part.length) return at + 1;
  }
  return -1;
}
