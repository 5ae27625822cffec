// The language of the query box of logs, which the engine and the page read with the same tokenizer.

import { expect, test } from 'vitest';
import { readLogQuery } from '../../../../../src/core/telemetry/logs/log-query.ts';
import { readTerms } from '../../../../../src/core/telemetry/logs/query-terms.ts';
import { forEachSeed, type SeededRandom } from '../../../../support/random/seeded-random.ts';

const PARTS = [
  'a',
  '-',
  '"',
  '\\',
  '/',
  ' ',
  'service:',
  'severity>=',
  'warn',
  'attr.k=',
  'attr.n>',
  '7',
  '=',
  ':',
  '\n',
  'i',
];

function randomQuery(random: SeededRandom): string {
  return Array.from({ length: random.below(14) }, () => random.pick(PARTS)).join('');
}

test('[LOG-4] Terms are in order, with only spaces and minus signs between them', () => {
  forEachSeed(300, (random) => {
    const query = randomQuery(random);
    let reached = 0;
    for (const { start, end, isNot } of readTerms(query)) {
      expect(end).toBeGreaterThan(start);
      expect(query.slice(reached, start)).toMatch(isNot ? /^\s*-$/ : /^\s*$/);
      reached = end;
    }
    expect(query.slice(reached).trim()).toBe('');
  });
});

test('[LOG-4] The engine refuses a faulty query with the same position and reason', () => {
  forEachSeed(300, (random) => {
    const query = randomQuery(random);
    const read = readLogQuery(query);
    const problem = [...readTerms(query)].find((term) => term.problem !== undefined)?.problem;
    if (problem === undefined) return;
    expect(read).toEqual({
      ok: false,
      reason: `The query cannot be read at character ${problem.at + 1}: ${problem.text}`,
    });
  });
});

test.each([
  ['SERVICE:x', { kind: 'field', field: 'service', operator: ':', value: 'x' }],
  ['attr.a.b>="7"', { kind: 'field', field: 'attr.a.b', operator: '>=', value: '7' }],
  ['attr.=7', { kind: 'word', text: 'attr.=7' }],
  ['other:thing', { kind: 'word', text: 'other:thing' }],
  ['"a \\" b"', { kind: 'phrase', text: 'a " b' }],
  ['/a\\/b\\d/i', { kind: 'regex', source: 'a/b\\d', ignoresCase: true }],
])('[LOG-4] %s is read as one term', (query, term) => {
  expect([...readTerms(query)]).toEqual([{ ...term, start: 0, end: query.length, isNot: false, problem: undefined }]);
});
