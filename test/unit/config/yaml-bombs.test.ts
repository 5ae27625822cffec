// Small files that could exhaust memory, stack or time. The tests show without a clock that the work is bounded: reading
// ends at the same token, however much text follows.

import { describe, expect, test } from 'vitest';
import { LineCounter } from 'yaml';
import { FILE_BYTES_MAX, readDocument } from '../../../src/config/document.ts';
import { composeYaml } from '../../../src/config/yaml-syntax.ts';
import { load } from './fixture-declarations.ts';

const SIZES_BYTES = [300, 1000, 4000, FILE_BYTES_MAX];

function filled(unit: string, sizeBytes: number): string {
  return unit.repeat(Math.floor(sizeBytes / unit.length));
}

describe('small files that expand', () => {
  test.each([
    ['lists in brackets', '[', 64],
    ['maps in braces', '{a: ', 256],
    ['dashes on one line', '- ', 128],
    ['question marks', '? ', 128],
    ['colons', ': ', 128],
    ['questions and dashes', '? - ', 128],
    ['anchors', '&a ', 0],
    ['tags', '!a ', 0],
    ['aliases', '*a ', 0],
    ['directives', '%a\n', 0],
    ['documents', '---\n', 4],
    ['ends of documents', '...\n', 4],
    ['closing brackets', ']', 0],
    ['pairs of brackets', '[]', 3],
  ])('[X21] [fault 41] a file full of %s is refused at the same token, whatever its size', (_, unit, offset) => {
    const found = SIZES_BYTES.map((sizeBytes) => {
      const composed = composeYaml(filled(unit, sizeBytes), new LineCounter());
      return composed.ok ? 'accepted' : composed.problem.offset;
    });
    expect(found).toEqual(SIZES_BYTES.map(() => offset));
  });

  test('[X21] [fault 41] aliases that expand to billions of items are refused at the first anchor', () => {
    const levels = 'bcdefghi'.split('');
    const laughs = levels.map((name, index) => {
      const before = index === 0 ? 'a' : levels[index - 1];
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]`;
    });
    const text = ['a: &a [lol, lol]', ...laughs].join('\n');
    expect(text.length).toBeGreaterThan(300);
    const read = readDocument(text, 'f');
    expect(read).toMatchObject({ ok: false, problems: [{ line: 1, column: 4 }] });
  });

  test('[X21] [fault 41] deep indentation is refused at the level that is too deep', () => {
    const text = Array.from({ length: 1000 }, (_, level) => `${' '.repeat(level)}a:\n`).join('');
    expect(readDocument(text, 'f')).toMatchObject({ ok: false, problems: [{ line: 65 }] });
  });

  test('[X21] [fault 41] a thousand keys are accepted if they differ, and each duplicate is refused once', () => {
    const different = Array.from({ length: 1000 }, (_, index) => `k${index}: 1\n`).join('');
    expect(readDocument(different, 'f')).toMatchObject({ ok: true });
    const same = readDocument('a: 1\n'.repeat(1000), 'f');
    expect(same.ok || same.problems.length).toBe(999);
  });
});

describe('random text', () => {
  const pieces = [
    ...['a', 'b', ': ', ':', '- ', '-', '\n', '\n  ', '\n    ', '[', ']', '{', '}', ',', '"', "'", '|', '>', '?', '? '],
    ...[
      '#',
      ' ',
      '\t',
      '1',
      '&x',
      '*x',
      '!t',
      '%',
      '---',
      '...',
      `\${A}`,
      `\${B:1}`,
      '<<',
      '\r\n',
      '\ufeff',
      '\0',
      '\x1f',
    ],
    ...['\x02', '\\', '@', 'workers', 'name', 'config', 'bridge_token', 'é', '\u2028', '\ud800', '__proto__'],
  ];

  const ROUNDS = 250;

  /** Numbers that look random and are the same in every run. */
  function numbersFrom(seed: number): () => number {
    let state = seed;
    return () => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state / 2 ** 31;
    };
  }

  test.each([1, 2, 3, 4])('[X21] is accepted, or refused at a position inside the file (seed %i)', (seed) => {
    const next = numbersFrom(seed);
    let accepted = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const length = 1 + Math.floor(next() * 30);
      const text = Array.from({ length }, () => pieces[Math.floor(next() * pieces.length)]).join('');
      const lines = text.split('\n');
      const result = load(text, { A: 'x' });
      if (result.ok) accepted += 1;
      for (const { line, column } of result.ok ? [] : result.problems) {
        expect([text, line >= 1 && line <= lines.length]).toEqual([text, true]);
        expect([text, column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 1]).toEqual([text, true]);
      }
    }
    // The run did real work: it saw both outcomes.
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(ROUNDS);
    expect('polluted' in {}).toBe(false);
  });
});
