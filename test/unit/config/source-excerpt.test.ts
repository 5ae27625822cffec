import { describe, expect, test } from 'vitest';
import { drawBrokenLine, drawEntry } from '../../../src/config/source-excerpt.ts';

/** The excerpt of a broken line, with the caret under the first `@` of the text. */
function broken(text: string): string {
  return drawBrokenLine(text, text.indexOf('@'));
}

describe('a line of a file that could not be parsed', () => {
  test('[K4] It is shown as it is, with a caret', () => {
    expect(broken('a: 1\nb: @x\nc: 2')).toBe('    b: @x\n       ^');
  });

  test.each([
    ['bridge_token: hunter2 @', '    bridge_token: [redacted]'],
    ['{"bridge_token": "hunter2", x: @', '    {"bridge_token": [redacted]'],
    ['{a: 1, password : hunter2 @', '    {a: 1, password : [redacted]'],
    ['- extstore_url: redis://u:hunter2@host: x', '    - extstore_url: [redacted]'],
    ['bridge_token:\n  hunter2 @', '     [redacted]'],
    ['bridge_token: |\n  one: hunter2\n  two: hunter2 @', '     [redacted]'],
    ['bridge_token: "\n\n  hunter2\n hunter2 @', '     [redacted]'],
    ['- credentials:\n  - user: hunter2 @', '     [redacted]'],
    ['{\nbridge_token:\n"hunter2" @', '     [redacted]'],
  ])('[X22] The secret in %j is replaced', (text, line) => {
    const [shown = '', caret = ''] = broken(text).split('\n');
    expect(shown).toBe(line);
    expect(caret.length).toBeLessThanOrEqual(shown.length + 1);
  });

  test.each([
    ['bridge_token: hunter2\nb: @x', '    b: @x'],
    ['x:\n  token: |\n    hunter2\n  b: @x', '      b: @x'],
    ['- token: hunter2\n- b: @x', '    - b: @x'],
  ])('[X22] The entry after a secret is shown again: %j', (text, line) => {
    expect(broken(text).split('\n')[0]).toBe(line);
  });

  test('[K4] Of a very long line the part around the caret is shown', () => {
    const [shown = '', caret = ''] = broken(`${'a'.repeat(5000)}@${'b'.repeat(5000)}`).split('\n');
    expect(shown.length).toBe(104);
    expect(shown.indexOf('@')).toBe(caret.indexOf('^'));
  });

  test('[CLI-5] Tabs and control characters take one column and do nothing', () => {
    expect(broken('a:\t\u001b[31m@')).toBe('    a:  [31m@\n            ^');
  });

  test('[X21] A line of a megabyte of colons is read in one pass', () => {
    const text = `${':'.repeat(1_000_000)}@`;
    expect(broken(text).split('\n')[1]).toMatch(/^ +\^$/);
  });
});

describe('an entry of a parsed file', () => {
  const text = 'a: {b: redis://u:p@h, c: hunter2}\n';
  const entry = { key: { start: 22, end: 23 }, content: { start: 25, end: 32 }, isScalar: true };

  test('[K4] Key and value are shown, and nothing of the neighbours', () => {
    expect(drawEntry(text, entry, 25, false)).toBe('    c: hunter2\n       ^');
    expect(drawEntry(text, entry, 22, false)).toBe('    c:\n    ^');
  });

  test('[X22] A hidden value is replaced, an address loses its user info', () => {
    expect(drawEntry(text, entry, 25, true)).toBe('    c: [redacted]\n       ^');
    const address = { key: { start: 4, end: 5 }, content: { start: 7, end: 20 }, isScalar: true };
    expect(drawEntry(text, address, 7, false)).toBe('    b: redis://[redacted]@h\n       ^');
  });

  test('[K4] Of a value on several lines the first is shown', () => {
    const folded = { key: { start: 0, end: 1 }, content: { start: 3, end: 12 }, isScalar: true };
    expect(drawEntry('a: "one\n two"\n', folded, 3, false)).toBe('    a: "one\n       ^');
  });
});
