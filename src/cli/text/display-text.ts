// Text for a terminal: unsafe characters removed, measured and cut in columns, wrapped, and laid out in two columns.

/**
 * Removes characters that could move the cursor, recolour the screen or reorder the line (CLI-5): C0 and C1 controls,
 * and the bidirectional marks, embeddings, overrides and isolates. Line breaks and tabs become a space, so that a value
 * stays on its row.
 */
export function stripUnsafe(text: string): string {
  return text.replace(/[\t\n\r\u2028\u2029]+/gu, ' ').replace(UNSAFE, '');
}

/** The same for text that may have several lines, such as an error message or a stack. */
export function stripUnsafeLines(text: string): string {
  return text
    .split(/\r\n|[\n\u2028\u2029]/u)
    .map(stripUnsafe)
    .join('\n');
}

/**
 * JSON text with every unsafe character escaped. `JSON.stringify` escapes only the C0 range; the others occur only in
 * string literals, where `\uXXXX` means the same, so the value does not change.
 */
export function escapeUnsafe(json: string): string {
  return json.replace(UNSAFE_BUT_C0, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** How many terminal columns the text takes: wide East Asian characters and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const char of text) width += charWidth(char);
  return width;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - displayWidth(text))) + text;
}

/** Cut to the width, with `…` for the removed part: at the end, or in the middle for ids. */
export function cut(text: string, columns: number, where: 'end' | 'middle'): string {
  if (displayWidth(text) <= columns) return text;
  const chars = [...text];
  const tailColumns = where === 'middle' ? Math.floor((columns - 1) / 2) : 0;
  const head = takeWidth(chars, columns - 1 - tailColumns);
  const tail = takeWidth(chars.toReversed(), tailColumns).toReversed();
  return `${head.join('')}…${tail.join('')}`;
}

/** Lines of at most `columns`, broken at spaces; a longer word gets its own line. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  return lines;
}

function takeWidth(chars: readonly string[], columns: number): string[] {
  const taken: string[] = [];
  let width = 0;
  for (const char of chars) {
    width += charWidth(char);
    if (width > columns) break;
    taken.push(char);
  }
  return taken;
}

function charWidth(char: string): number {
  if (/[\p{Mn}\p{Me}\p{Cf}]/u.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

// Escapes rather than the characters themselves: an editor would show nothing, or reorder the line.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const UNSAFE_BUT_C0 = /[\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

// Scripts that terminals draw two columns wide, and emoji with their own colour glyph.
const WIDE = new RegExp(
  String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]` +
    String.raw`|[\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}`,
  'u',
);

/** Leaves the last two of 80 columns free, as some terminals wrap early. */
export const TEXT_COLUMNS = 78;
export const INDENT = '  ';
const LEFT_COLUMNS_MAX = 30;

/** Two columns, the second one wrapped. A first part that is too long gets its own line. */
export function formatPairs(pairs: readonly (readonly [string, string])[]): string[] {
  const longest = pairs.reduce((length, [left]) => Math.max(length, displayWidth(left)), 0);
  const left = Math.min(longest, LEFT_COLUMNS_MAX);
  return pairs.flatMap(([name, text]) => {
    const lines = wrap(text, TEXT_COLUMNS - INDENT.length - left - 2);
    const own = displayWidth(name) > left ? [INDENT + name] : [];
    return [
      ...own,
      ...lines.map((line, index) => {
        const first = index === 0 && own.length === 0 ? name : '';
        return `${INDENT}${padEnd(first, left)}  ${line}`.trimEnd();
      }),
    ];
  });
}
