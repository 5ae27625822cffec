import { describe, expect, test } from 'vitest';
import { type ConfigDocument, FILE_BYTES_MAX, readDocument } from '../../../src/config/document.ts';
import type { ConfigProblem } from '../../../src/config/problem.ts';
import { NESTING_MAX } from '../../../src/config/yaml-syntax.ts';

function documentOf(text: string): ConfigDocument {
  const read = readDocument(text, 'f.yaml');
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('\n'));
  return read.document;
}

function refusals(text: string): readonly string[] {
  const read = readDocument(text, 'f.yaml');
  return read.ok ? [] : read.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

function place(document: ConfigDocument, path: readonly (string | number)[], at: 'key' | 'value'): string {
  const { line, column }: ConfigProblem = document.locate({ path, at, message: 'm' });
  return `${line}:${column}`;
}

describe('the value of a file', () => {
  test('[X21] scalars have the types of YAML 1.2, and keys are text', () => {
    const { value } = documentOf('a: 1\nb: [true, no, 0o17, ~, "5"]\n5: x\nnull: y\ntrue: z\nc: |\n  two\n  lines\n');
    expect(value).toEqual({
      a: 1,
      b: [true, 'no', 15, null, '5'],
      5: 'x',
      null: 'y',
      true: 'z',
      c: 'two\nlines\n',
    });
  });

  test.each(['', '\n', '# only a comment\n', '---\n', '\ufeff', 'null'])('[K4] %j has no value', (text) => {
    expect(documentOf(text).value).toBe(null);
  });

  test('[K4] a byte order mark and Windows line ends change nothing', () => {
    const document = documentOf('\ufeffa: 1\r\nb:\r\n  c: 2\r\n');
    expect(document.value).toEqual({ a: 1, b: { c: 2 } });
    expect(place(document, ['b', 'c'], 'value')).toBe('3:6');
  });

  test('[X19] maps have no prototype, so that __proto__ and constructor are keys like others', () => {
    const { value } = documentOf('__proto__: {polluted: 1}\nconstructor: {prototype: {polluted: 2}}\n');
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}');
    expect(Object.getPrototypeOf(value)).toBe(null);
    expect('polluted' in {}).toBe(false);
  });
});

describe('positions in the file', () => {
  const document = documentOf(
    'threads: 2\nworkers:\n  - name: a\n    config: {port: 1, "odd key": [x, yy]}\n  -\nempty:\ntext: >-\n  folded\n',
  );

  test.each([
    [['threads'], 'key', '1:1'],
    [['threads'], 'value', '1:10'],
    [['workers'], 'value', '3:3'],
    [['workers', 0], 'value', '3:5'],
    [['workers', 0], 'key', '3:5'],
    [['workers', 0, 'name'], 'value', '3:11'],
    [['workers', 0, 'config', 'port'], 'value', '4:20'],
    [['workers', 0, 'config', 'odd key'], 'key', '4:23'],
    [['workers', 0, 'config', 'odd key', 1], 'value', '4:38'],
    [['workers', 1], 'value', '5:4'],
    [['empty'], 'value', '6:1'],
    [['text'], 'value', '7:7'],
    [[], 'value', '1:1'],
  ] as const)('[K4] %j (%s) lies at %s', (path, at, expected) => {
    expect(place(document, path, at)).toBe(expected);
  });

  test.each([
    [['workers', 0, 'config', 'host'], '4:5'],
    [['workers', 0, 'config', 'host', 'deeper'], '4:5'],
    [['workers', 7, 'name'], '2:1'],
    [['nothing'], '1:1'],
    [['threads', 'below a scalar'], '1:1'],
    [['toString'], '1:1'],
  ] as const)('[K4] a problem with %j, which is not in the file, is shown at %s', (path, expected) => {
    expect(place(document, path, 'key')).toBe(expected);
  });

  test('[K4] a scalar in quotes or in a block is text', () => {
    const { entryAt } = documentOf(`a: 1\nb: '1'\nc: "1"\nd: |\n  1\ne: >\n  1\nf: {g: 1}\n`);
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => entryAt([key]).isQuoted)).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  test('[K4] every entry of a deeply nested file has its position', () => {
    const keys = Array.from({ length: 50 }, (_, index) => `key_${index}`);
    const text = keys.map((key, index) => `${' '.repeat(index)}${key}:\n`).join('');
    const nested = documentOf(`${text}${' '.repeat(50)}last: 1\n`);
    keys.forEach((_, index) => {
      expect(place(nested, keys.slice(0, index + 1), 'key')).toBe(`${index + 1}:${index + 1}`);
    });
    expect(place(nested, [...keys, 'last'], 'value')).toBe('51:57');
  });
});

describe('what is refused', () => {
  const noAliases = 'Anchors (&) and aliases (*) are not allowed here. If it is meant as text, put it in quotes.';
  const noTags = 'Tags (!) are not allowed here. If it is meant as text, put it in quotes.';

  test.each([
    ['a: &x 1', `1:4 ${noAliases}`],
    ['a: *x', `1:4 ${noAliases}`],
    ['&x a: 1', `1:1 ${noAliases}`],
    ['a: [1, *x]', `1:8 ${noAliases}`],
    ['allowed_hosts: [*.internal]', `1:17 ${noAliases}`],
    ['a: !!str 1', `1:4 ${noTags}`],
    ['a: !custom {}', `1:4 ${noTags}`],
    ['a: !!js/function x', `1:4 ${noTags}`],
    ['a: !!binary aGk=', `1:4 ${noTags}`],
    ['! a', `1:1 ${noTags}`],
    ['%YAML 1.1\n---\na: 1', '1:1 Directives (%) are not allowed here.'],
    ['%TAG ! tag:x,2000:\n---\na: 1', '1:1 Directives (%) are not allowed here.'],
    ['<<: {a: 1}\nb: 2', "1:1 Merge keys ('<<') are not allowed. Write the keys out."],
    ['a:\n  <<: [{b: 1}]', "2:3 Merge keys ('<<') are not allowed. Write the keys out."],
    ['a: 1\n---\nb: 2\n', "2:1 A second document begins here. The file must hold one: remove the line '---' or '...'."],
    ['a: 1\n...\nb: 2\n', "3:1 A second document begins here. The file must hold one: remove the line '---' or '...'."],
    ['? [a]\n: b', '1:3 A key must be text.'],
    ['a: 1\n]', "2:1 Unexpected ']'. Check the indentation, quotes and brackets before it."],
    ['a: b: c', '1:4 Nested mappings are not allowed in compact mappings.'],
    ['\ta: 1', '1:1 Tabs are not allowed as indentation.'],
    ['a: "x', '1:6 Missing closing "quote.'],
    ['a: [1, 2', '1:9 Flow sequence in block collection must be sufficiently indented and end with a ].'],
    ['a: @x', '1:4 Plain value cannot start with reserved character @.'],
    ['a: "\\q"', '1:5 Invalid escape sequence \\q.'],
  ])('[X21] %j is refused at its place', (text, refusal) => {
    expect(refusals(text)).toEqual([refusal]);
  });

  test('[X21] YAML signs inside quotes and comments are ordinary text', () => {
    expect(documentOf(`a: "&x *y !z"\nb: '*'\nc: x & y # *z !t %u\nd: |\n  *a\n  &b\n"<<": 1\n`).value).toEqual({
      a: '&x *y !z',
      b: '*',
      c: 'x & y',
      d: '*a\n&b\n',
      '<<': 1,
    });
  });

  test('[X21] a duplicate key is refused each time it occurs', () => {
    expect(refusals('a: 1\nb: {c: 1, c: 2}\na: 2\n"a": 3\n')).toEqual([
      "2:11 The key 'c' occurs here a second time.",
      "3:1 The key 'a' occurs here a second time.",
      "4:1 The key 'a' occurs here a second time.",
    ]);
    expect(refusals('__proto__: 1\n__proto__: 2\n')).toEqual(["2:1 The key '__proto__' occurs here a second time."]);
  });
});

describe('size and depth', () => {
  test('[X21] a file of 1 MiB is accepted, and one byte more is refused without reading it', () => {
    const comment = (bytes: number) => `#${'x'.repeat(bytes - 1)}`;
    expect(documentOf(comment(FILE_BYTES_MAX)).value).toBe(null);
    const refusal = ['0:0 The file has 1048577 bytes, over the limit of 1048576.'];
    expect(refusals(comment(FILE_BYTES_MAX + 1))).toEqual(refusal);
    expect(refusals(`#${'é'.repeat(FILE_BYTES_MAX / 2)}`)).toEqual(refusal);
    // Unread: at the first sign of an alias the reading would have ended with another message.
    expect(refusals(`*a${comment(FILE_BYTES_MAX - 1)}`)).toEqual(refusal);
  });

  const nestings: readonly (readonly [string, (depth: number) => string])[] = [
    ['lists in brackets', (depth) => '['.repeat(depth) + ']'.repeat(depth)],
    ['maps in braces', (depth) => `${'{a: '.repeat(depth)}1${'}'.repeat(depth)}`],
    ['dashes on one line', (depth) => `${'- '.repeat(depth)}1`],
    ['indented maps', (depth) => Array.from({ length: depth }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
  ];

  test.each(nestings)('[X21] %s may nest 64 levels deep, and not 65', (_, nested) => {
    expect(refusals(nested(NESTING_MAX))).toEqual([]);
    expect(refusals(nested(NESTING_MAX + 1))).toEqual([
      expect.stringMatching(/^\d+:\d+ Nested deeper than 64 levels\.$/),
    ]);
  });

  test('[X21] a pair inside a list counts as a map', () => {
    const pairs = (lists: number) => `${'[a: '.repeat(lists)}1${']'.repeat(lists)}`;
    expect(refusals(pairs(NESTING_MAX / 2))).toEqual([]);
    expect(refusals(pairs(NESTING_MAX / 2 + 1))).toEqual(['1:126 Nested deeper than 64 levels.']);
  });
});
