import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { steps } from '../../bench/micro/suites.ts';
import { PARTS, type Part } from '../../bench/parts.ts';
import { compared } from '../../bench/report/pairs.ts';
import { readOutput, showResults, withFigures } from '../../bench/report/results.ts';

describe('micro-benchmarks in smoke size', () => {
  test.each(steps())('$name does its work', ({ run }) => {
    for (let round = 0; round < 3; round++) expect(run()).toBeGreaterThan(0);
  });
});

describe('the figures of a run of all benchmarks', () => {
  const part: Part = {
    name: 'http',
    title: 'HTTP port',
    program: 'bench/load/http.ts',
    args: [],
    minutes: 1,
    headline: { row: 'Fastify', column: 'svc is', says: 'of Fastify' },
  };
  const printed = 'Load: wrk\n\n| contender | svc is |\n|---|---|\n| svc | 1.00 |\n| Fastify | 1.03 |\n';
  const figures = { date: '2026-11-28', commit: 'abc', command: 'npm run bench -- http', seconds: 9 };
  const first = withFigures({ parts: {} }, part, { ...figures, ...readOutput(printed) });

  test('are the tables and the lines that a part prints', () => {
    expect(readOutput(printed)).toEqual({
      tables: [
        {
          columns: ['contender', 'svc is'],
          rows: [
            ['svc', '1.00'],
            ['Fastify', '1.03'],
          ],
        },
      ],
      notes: ['Load: wrk'],
    });
  });

  test('of the run before become one line of history', () => {
    const second = withFigures(first, part, { ...figures, date: '2026-11-29', ...readOutput(printed) });
    expect(second.parts.http?.history).toEqual(['2026-11-28 (abc): 1.03 of Fastify']);
    const third = withFigures(second, part, { ...figures, ...readOutput('nothing') });
    expect(third.parts.http?.history).toHaveLength(2);
    expect(withFigures(third, part, { ...figures, ...readOutput(printed) }).parts.http?.history).toHaveLength(2);
  });

  test('replace those of the part on the page, and leave the text of people around them', () => {
    const page = showResults('# Results\n\nMachine: two cores.\n', [part], first);
    expect(page).toContain(
      '## HTTP port\n\n<!-- figures of http -->\n\n`npm run bench -- http`, 2026-11-28, commit abc.',
    );
    const explained = `${page}\nThe port reads once and answers once.\n`;
    const newer = withFigures(first, part, { ...figures, ...readOutput(printed.replace('1.03', '1.10')) });
    const shown = showResults(explained, [part], newer);
    expect(shown.match(/## HTTP port/g)).toHaveLength(1);
    expect(shown).toContain('| Fastify | 1.10 |');
    expect(shown).toContain('Before: 2026-11-28 (abc): 1.03 of Fastify.');
    expect(shown.endsWith('The port reads once and answers once.\n')).toBe(true);
  });

  test('of two trees differ only where the difference exceeds the spread', () => {
    const pairs = new Map([
      ['calls | per second', { before: [100, 101, 99, 100], now: [120, 121, 119, 122] }],
      ['calls | p99 µs', { before: [100, 101, 99, 100], now: [120, 121, 119, 122] }],
      ['sets | per second', { before: [1, 2, 3], now: [7, 8, 9] }],
      ['jobs | per second', { before: [100, 120, 80, 110], now: [105, 90, 118, 100] }],
    ]);
    const verdicts = compared(pairs)
      .trim()
      .split('\n')
      .slice(2)
      .map((row) => row.split(' | ').at(-1));
    expect(verdicts).toEqual(['better |', '**worse** |', 'too few rounds to tell |', 'within the spread |']);
  });

  test('come from parts whose names differ, and whose programs exist', () => {
    expect(new Set(PARTS.map(({ name }) => name)).size).toBe(PARTS.length);
    for (const { program } of PARTS) expect(existsSync(program), program).toBe(true);
    expect(PARTS.reduce((sum, { minutes }) => sum + minutes, 0)).toBeLessThanOrEqual(60);
  });
});
