import { describe, expect, test } from 'vitest';
import { drawBrokenLine, drawEntry, fileProblem, formatPath, formatProblem } from '../../../src/config/problem.ts';
import { problemsOf } from './fixture-declarations.ts';

function formatted(text: string): string {
  return problemsOf(text).map(formatProblem).join('\n');
}

describe('a problem on the terminal', () => {
  test('[K4] it names file, line, column and path, and marks the position with a caret', () => {
    expect(formatted('workers:\n  - name: svc-stream\n    config:\n      prot: 3112\n      port: abc\n')).toBe(
      [
        "svc-config.yaml:4:7: workers[0].config.prot: Unknown key 'prot'. Did you mean 'port'?",
        '          prot:',
        '          ^',
        "svc-config.yaml:5:13: workers[0].config.port: Must be an integer from 0 to 65535, found the text 'abc'.",
        '          port: abc',
        '                ^',
      ].join('\n'),
    );
  });

  test('[K4] of a line with several entries only the faulty one is shown', () => {
    expect(formatted('limits: {engine: {in_flight: 0}}')).toContain('\n    in_flight: 0\n               ^');
  });

  test('[K4] an item of a list is shown with its dash', () => {
    expect(formatted('allowed_hosts:\n  - a\n  - 5\n')).toContain('\n      - 5\n        ^');
  });

  test('[K4] a value of the wrong shape is marked where it begins', () => {
    expect(formatted('threads:\n  a: 1\n')).toContain('\n      …\n      ^');
  });

  test('[K4] a problem of the root has no path, and a problem of the whole file no line', () => {
    expect(formatted('text')).toMatch(/^svc-config\.yaml:1:1: Must be a map/);
    expect(formatProblem(fileProblem('a.yaml', 'There is no file /x/a.yaml.'))).toBe(
      'a.yaml: There is no file /x/a.yaml.',
    );
  });

  test('[K4] a syntax error shows the whole line', () => {
    expect(formatted('threads: 2\nallowed_hosts: [a, b\n')).toMatch(/\n {4}\n {4}\^$/);
    expect(formatted('threads: 2\nstrict: "a" b\n')).toContain('\n    strict: "a" b\n');
  });
});

describe('paths', () => {
  test.each([
    [[], ''],
    [['workers'], 'workers'],
    [['workers', 1, 'config', 'port'], 'workers[1].config.port'],
    [['queue_configs', 'my-queue', 'type'], 'queue_configs.my-queue.type'],
    [['queue_configs', 'a.b', 'type'], 'queue_configs["a.b"].type'],
    [['queue_configs', 'a "b"\n'], 'queue_configs["a \\"b\\"\\n"]'],
    [['', 0, 1], '[""][0][1]'],
  ])('[K4] %j is written as %s', (path, text) => {
    expect(formatPath(path)).toBe(text);
  });

  test('[K4] a key of a thousand letters is shortened', () => {
    expect(formatPath(['x'.repeat(1000)]).length).toBeLessThan(250);
  });
});

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
