// The query box of the logs as terms that can be shown, switched off and joined again.

import { expect, test } from 'vitest';
import {
  parseLogQuery,
  printLogQuery,
  quoteTerm,
  quoteValue,
  wordsToMark,
} from '../../../../../../src/console/web/pages/logs/logic/log-query.ts';
import { forEachSeed } from '../../../../../support/random/seeded-random.ts';

test.each([
  ['timeout', 'word', 'timeout', false],
  ['"card declined"', 'phrase', '"card declined"', false],
  ['-debug', 'word', 'debug', true],
  ['service:billing', 'field', 'service:billing', false],
  ['severity>=warn', 'field', 'severity>=warn', false],
  ['attr.order.id=o-81', 'field', 'attr.order.id=o-81', false],
  ['attr.name="two words"', 'field', 'attr.name="two words"', false],
  ['/time(d)? out \\/ \\d+/', 'regex', '/time(d)? out \\/ \\d+/', false],
  ['-/a b/', 'regex', '/a b/', true],
  ['/Time/i', 'regex', '/Time/i', false],
  ['attr.items>3', 'field', 'attr.items>3', false],
  ['other:thing', 'word', 'other:thing', false],
])('[LOG-4] %s is one term: %s', (query, kind, text, isNot) => {
  expect(parseLogQuery(query)).toEqual([{ kind, text, isNot }]);
});

test('[LOG-4] Terms are split at spaces outside quotes and expressions', () => {
  const terms = parseLogQuery('  one "two three" -service:x /a b/  attr.k="v w" ');
  expect(terms.map((term) => term.text)).toEqual(['one', '"two three"', 'service:x', '/a b/', 'attr.k="v w"']);
});

test.each([
  ['"open', /quotation mark is not closed/],
  ['attr.k="open', /quotation mark is not closed/],
  ['/open', /no closing '\/'/],
  ['//', /empty/],
  [`/${'a'.repeat(257)}/`, /over the limit of 256 bytes/],
  ['service:', /value is missing/],
  ['/a/g', /'g' is not a flag/],
  ['attr.items>many', /needs a number/],
  ['service>=x', /takes ':', '=' or '!='/],
  ['severity>=loud', /'loud' is not a severity: one of trace, debug, info, warn, error/],
])('[LOG-4] %s says what is wrong and is not sent', (query, problem) => {
  const terms = parseLogQuery(query);
  expect(terms[0]?.problem).toMatch(problem);
  expect(printLogQuery(terms)).toBe('');
});

test('[LOG-4] A chip that is switched off is left out of the query, but stays in the box', () => {
  const terms = parseLogQuery('one -two service:x');
  expect(printLogQuery(terms, (index) => index === 1)).toBe('one service:x');
});

test('[LOG-4] Printing and parsing again gives the same terms', () => {
  const parts = ['a', '-', '"', '\\', '/', ' ', 'service:', 'severity>=', 'warn', 'attr.k=', 'x', '=', ':', '\n'];
  forEachSeed(300, (random) => {
    const query = Array.from({ length: random.below(12) }, () => random.pick(parts)).join('');
    const terms = parseLogQuery(query).filter((term) => term.problem === undefined);
    expect(parseLogQuery(printLogQuery(terms))).toEqual(terms);
  });
});

test('[LOG-4] Any text can be quoted into one term with exactly that meaning', () => {
  const parts = ['a', '-', '"', '\\', '/', ' ', 'service:x', 'severity>=', 'attr.k=v', '\n'];
  forEachSeed(200, (random) => {
    const text = Array.from({ length: 1 + random.below(6) }, () => random.pick(parts)).join('');
    const terms = parseLogQuery(quoteTerm(text));
    expect(terms).toHaveLength(1);
    expect(wordsToMark(terms)).toEqual([text]);
    expect(parseLogQuery(`attr.k=${quoteValue(text)}`)).toHaveLength(1);
  });
});

test('[LOG-6] Words and phrases are marked; exclusions and expressions are not', () => {
  expect(wordsToMark(parseLogQuery('one "two three" -four /five/ service:six'))).toEqual(['one', 'two three']);
});
