// Two columns, names and meanings: the layout of help texts and summaries.

import { displayWidth, padEnd, wrap } from './display-text.ts';

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
