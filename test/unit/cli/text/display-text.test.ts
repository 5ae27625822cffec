import { describe, expect, test } from 'vitest';
import {
  cut,
  displayWidth,
  escapeUnsafe,
  padEnd,
  stripUnsafe,
  stripUnsafeLines,
  wrap,
} from '../../../../src/cli/text/display-text.ts';

describe('untrusted text', () => {
  test.each([
    ['\u001b[31mred\u001b[0m', '[31mred[0m'],
    ['bell\u0007 null\u0000 del\u007f', 'bell null del'],
    ['c1\u009b2J', 'c12J'],
    ['\u202egnp.exe\u202c \u2066x\u2069 \u200fy \u061cz', 'gnp.exe x y z'],
    ['two\r\nlines\tand tab', 'two lines and tab'],
    ['naïve 日本 👍🏽', 'naïve 日本 👍🏽'],
  ])('[CLI-5] %j is printed as %j', (text, expected) => {
    expect(stripUnsafe(text)).toBe(expected);
  });

  test('[CLI-5] text with several lines keeps its line breaks and loses other unsafe characters', () => {
    expect(stripUnsafeLines('one\u001b[2J\r\ntwo\u202e')).toBe('one[2J\ntwo');
  });

  test('[CLI-2] unsafe characters in JSON are escaped, and the value does not change', () => {
    const value = { text: '\u001b\u009b\u202e\u2028\u007f日👍' };
    const json = escapeUnsafe(JSON.stringify(value));
    expect(json).toBe('{"text":"\\u001b\\u009b\\u202e\\u2028\\u007f日👍"}');
    expect(JSON.parse(json)).toEqual(value);
  });
});

describe('columns', () => {
  test.each([
    ['abc', 3],
    ['日本', 4],
    ['é', 1],
    ['e\u0301', 1],
    ['👍', 2],
    ['', 0],
  ])('[CLI-2] %j takes %d columns', (text, expected) => {
    expect(displayWidth(text)).toBe(expected);
  });

  test('[CLI-2] padding counts columns, not characters', () => {
    expect(padEnd('日本', 6)).toBe('日本  ');
    expect(padEnd('longer', 3)).toBe('longer');
  });

  test.each([
    ['orders::create', 14, 'middle', 'orders::create'],
    ['orders::create::now', 11, 'middle', 'order…::now'],
    ['a description', 6, 'end', 'a des…'],
    ['日本語日本語', 7, 'end', '日本語…'],
    ['日本語日本語', 6, 'middle', '日…語'],
  ] as const)('[CLI-2] %s in %d columns, shortened at the %s, is %s', (text, columns, where, expected) => {
    expect(cut(text, columns, where)).toBe(expected);
    expect(displayWidth(cut(text, columns, where))).toBeLessThanOrEqual(columns);
  });

  test('[CLI-7] lines break at spaces, never inside a word', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('a verylongword b', 5)).toEqual(['a', 'verylongword', 'b']);
    expect(wrap('', 5)).toEqual(['']);
  });
});
