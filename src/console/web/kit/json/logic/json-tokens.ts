// The tokens of JSON in a text: where each of them ends.

const SPACES = /[ \t\r\n]+/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const [SPACE, QUOTE, BACKSLASH] = [32, 34, 92];
const [LETTER_F, LETTER_N, LETTER_T] = [102, 110, 116];

interface Word {
  readonly kind: 'boolean' | 'null';
  readonly chars: number;
}

const TRUE: Word = { kind: 'boolean', chars: 4 };
const FALSE: Word = { kind: 'boolean', chars: 5 };
const NULL: Word = { kind: 'null', chars: 4 };

export function wordAt(text: string, at: number): Word | undefined {
  switch (text.charCodeAt(at)) {
    case LETTER_T:
      return text.startsWith('true', at) ? TRUE : undefined;
    case LETTER_F:
      return text.startsWith('false', at) ? FALSE : undefined;
    case LETTER_N:
      return text.startsWith('null', at) ? NULL : undefined;
    default:
      return undefined;
  }
}

export function spaceEnd(text: string, start: number): number {
  SPACES.lastIndex = start;
  return SPACES.test(text) ? SPACES.lastIndex : start;
}

/** The position after its closing quote; undefined: it is not a string. */
export function stringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) return undefined;
    if (code !== BACKSLASH) continue;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) return undefined;
    at = ESCAPE.lastIndex - 1;
  }
  return undefined;
}

export function numberEnd(text: string, start: number): number | undefined {
  NUMBER.lastIndex = start;
  return NUMBER.test(text) ? NUMBER.lastIndex : undefined;
}

export function nameOf(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? JSON.parse(text.slice(start, end)) : inner;
}
