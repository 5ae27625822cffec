// The checker of histories finds what it has to find.

import { expect, test } from 'vitest';
import { CheckedHistory } from '../../support/load/checked-history.ts';

const FINAL = new Map([['k', ['a', 'b', 'c']]]);

function historyOf(...steps: (readonly [kind: 'append' | 'read', list: string, begunMs: number, endedMs: number])[]) {
  const history = new CheckedHistory();
  for (const [kind, text, begunMs, endedMs] of steps) {
    const list = text.split('');
    const span = { key: 'k', list, begunMs, endedMs };
    if (kind === 'read') history.reads.push(span);
    else history.appends.push({ ...span, item: list.at(-1) ?? '' });
  }
  return history.contradictions(FINAL);
}

test('[S1] a history that one list explains has no contradictions', () => {
  expect(
    historyOf(['append', 'a', 0, 1], ['append', 'ab', 1, 3], ['read', 'a', 2, 4], ['append', 'abc', 4, 5]),
  ).toEqual([]);
});

test.each([
  ['an item that is gone', [['append', 'abx', 0, 1]], 'lost x'],
  ['a list that never was', [['read', 'ac', 0, 1]], 'no beginning'],
  [
    'an answer from the past',
    [
      ['append', 'ab', 0, 1],
      ['read', 'a', 2, 3],
    ],
    'a list of 1 was seen after one of 2',
  ],
  [
    'an append that forgot another',
    [
      ['append', 'ab', 0, 1],
      ['append', 'a', 2, 3],
    ],
    'a list of 1 was seen after one of 2',
  ],
] as const)('[S1] %s is found', (_what, steps, words) => {
  expect(historyOf(...steps).join()).toContain(words);
});

test('[S1] an item that is there twice is found', () => {
  const history = new CheckedHistory();
  history.reads.push({ key: 'k', list: [], begunMs: 0, endedMs: 1 });
  expect(history.contradictions(new Map([['k', ['a', 'a']]])).join()).toContain('twice');
});
