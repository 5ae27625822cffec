// JSON whose end is missing, made readable again.

export interface CutJson {
  /** Valid JSON: the longest beginning, with its open lists and objects closed. Undefined: not even one value began. */
  readonly json: string | undefined;
  /** Where the missing part begins: keys and positions from the outside to the inside. */
  readonly path: readonly string[];
}

interface Level {
  readonly isObject: boolean;
  /** Of the member that is being read. */
  key: string;
  index: number;
  /** In an object, whether the next text is a key. */
  awaitsKey: boolean;
}

/** `text` begins with a JSON value and ends anywhere in it. A text that is cut keeps its beginning. */
export function closeCutJson(text: string): CutJson {
  const levels: Level[] = [];
  let good: { end: number; closers: string } | undefined;
  const note = (end: number): void => {
    good = { end, closers: closersOf(levels) };
  };
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? '';
    const level = levels.at(-1);
    if (char === '{' || char === '[') {
      levels.push({ isObject: char === '{', key: '', index: 0, awaitsKey: char === '{' });
      at++;
      note(at);
    } else if (char === '}' || char === ']') {
      levels.pop();
      at++;
      note(at);
      if (levels.length === 0) break;
    } else if (char === ',') {
      if (level !== undefined) {
        level.index++;
        level.awaitsKey = level.isObject;
      }
      at++;
    } else if (char === '"') {
      const end = endOfText(text, at);
      if (end === undefined) return cutText(text, at, levels, good);
      if (level?.awaitsKey === true) {
        level.key = String(JSON.parse(text.slice(at, end)));
        level.awaitsKey = false;
      } else note(end);
      at = end;
    } else if (char === ':' || SPACE.test(char)) at++;
    else {
      const end = endOfWord(text, at);
      // A number that ends with the text may have more digits.
      if (end === text.length) break;
      note(end);
      at = end;
    }
  }
  return { json: good && text.slice(0, good.end) + good.closers, path: pathOf(levels) };
}

function closersOf(levels: readonly Level[]): string {
  let closers = '';
  for (const { isObject } of levels) closers = (isObject ? '}' : ']') + closers;
  return closers;
}

function pathOf(levels: readonly Level[]): string[] {
  const begun = levels.at(-1)?.awaitsKey === true ? levels.slice(0, -1) : levels;
  return begun.map(({ isObject, key, index }) => (isObject ? key : String(index)));
}

/** The position after the closing quote. */
function endOfText(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return undefined;
}

function cutText(
  text: string,
  start: number,
  levels: readonly Level[],
  good: { end: number; closers: string } | undefined,
): CutJson {
  const path = pathOf(levels);
  if (levels.at(-1)?.awaitsKey === true) return { json: good && text.slice(0, good.end) + good.closers, path };
  const end = endOfCharacters(text, start + 1);
  return { json: `${text.slice(0, end)}"${closersOf(levels)}`, path };
}

/** The end of the last whole character: no half of an escape, of a surrogate pair, or of a character in UTF-8. */
function endOfCharacters(text: string, start: number): number {
  let at = start;
  while (at < text.length) {
    const length = text[at] !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2;
    const next = at + length;
    const isLast = next >= text.length || (length === 6 && next + 6 > text.length);
    if (next > text.length || (isLast && HALF.test(text.slice(at, next)))) return at;
    at = next;
  }
  return at;
}

function endOfWord(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !WORD_END.test(text[at] ?? '')) at++;
  return at;
}

const SPACE = /\s/;
const WORD_END = /[\s,\]}]/;
const HALF = /^(?:\\u[dD][89abAB][\da-fA-F]{2}|[\uD800-\uDBFF]|\uFFFD)$/;
