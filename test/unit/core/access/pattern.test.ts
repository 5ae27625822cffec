import { describe, expect, test } from 'vitest';
import { Pattern, readPattern } from '../../../../src/core/access/pattern.ts';
import { forEachSeed, type SeededRandom } from '../../../support/random/seeded-random.ts';

describe('matching', () => {
  test.each([
    ['api::users', 'api::users', true],
    ['api::users', 'api::user', false],
    ['api::users', 'api::users2', false],
    ['api::users', 'xapi::users', false],
    ['api::users', 'API::users', false],
    ['api::*', 'api::', true],
    ['api::*', 'api::users::get', true],
    ['api::*', 'api:', false],
    ['*', '', true],
    ['*', 'anything::at all', true],
    ['**', 'x', true],
    ['*::get', 'users::get', true],
    ['*::get', 'users::get::all', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['ab*ba', 'aba', false],
    ['a*b*c', 'a::b::c', true],
    ['a*b*c', 'a::c::b', false],
    ['a*bc*bcd', 'abcbcd', true],
    ['a*bc*bcd', 'abcd', false],
    ['*aab*', 'aaab', true],
    ['*abcabd*', 'abcabcabd', true],
    ['user.*', 'user.created', true],
    ['user.*', 'userXcreated', false],
    ['a.c', 'abc', false],
    ['a?c', 'abc', false],
    ['[ab]', 'a', false],
    ['a|b', 'a', false],
    ['(a)', '(a)', true],
    ['^a$', 'a', false],
    ['ä*', 'äb', true],
    ['*😀*', 'x😀y', true],
  ])('[X11] %j and %j: %s', (pattern, text, isMatch) => {
    expect(new Pattern(pattern).matches(text)).toBe(isMatch);
  });

  test('[X11] the result is that of a plain recursive search', () => {
    forEachSeed(300, (random) => {
      const letters = random.pick(['ab', 'a', 'abc']);
      const pattern = anyText(random, `${letters}**`, 12);
      const text = anyText(random, letters, 14);
      if (pattern === '') return;
      expect({ pattern, text, is: new Pattern(pattern).matches(text) }).toEqual({
        pattern,
        text,
        is: matchesByDefinition(pattern, text),
      });
    });
  });
});

describe('limits of a pattern', () => {
  test('[X11] a pattern has at most 256 bytes and 16 stars', () => {
    expect(readPattern('*'.repeat(16))).toMatchObject({ ok: true });
    expect(readPattern('*'.repeat(17))).toEqual({ ok: false, reason: 'has 17 stars; the limit is 16' });
    expect(readPattern('x'.repeat(256))).toMatchObject({ ok: true });
    expect(readPattern('ä'.repeat(129))).toEqual({ ok: false, reason: 'has 258 bytes; the limit is 256' });
    expect(readPattern('')).toEqual({ ok: false, reason: 'is empty' });
  });
});

describe('the work of a match', () => {
  test('[X11] it grows linearly with the text, whatever the pattern', () => {
    for (const [pattern, text] of HOSTILE) {
      const [short, long] = [countReads(pattern, text(1_000)), countReads(pattern, text(10_000))];
      expect(long).toBeLessThan(11 * short + 1_000);
      // The start, the end, and each character of the text against its part and the places it falls back to.
      expect(long).toBeLessThan(4 * 10_000 + 1_000);
    }
  });
});

/** Patterns that make a plain search go back over the same text again and again. */
const HOSTILE: readonly [string, (length: number) => string][] = [
  ['*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab*', (length) => 'a'.repeat(length)],
  [`*${'a*'.repeat(15)}`.slice(0, -1), (length) => 'a'.repeat(length)],
  [`${'*a'.repeat(15)}*b`, (length) => 'a'.repeat(length)],
  ['*abababababababababababababac*', (length) => 'ab'.repeat(length / 2)],
  [`*${'ab'.repeat(60)}c*${'ab'.repeat(60)}*`, (length) => 'ab'.repeat(length / 2)],
];

/** How many characters of the text are looked at one by one. */
function countReads(pattern: string, text: string): number {
  let reads = 0;
  // A text in the shape of an object, which counts; the matcher needs no more of a text than this.
  const counting = new Proxy(Object(text) as object, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return typeof value === 'function' ? (...args: unknown[]) => Reflect.apply(value, text, args) : value;
    },
  });
  Reflect.apply(Pattern.prototype.matches, new Pattern(pattern), [counting]);
  return reads;
}

function anyText(random: SeededRandom, letters: string, lengthMax: number): string {
  return Array.from({ length: random.below(lengthMax) }, () => letters[random.below(letters.length)]).join('');
}

function matchesByDefinition(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  const rest = pattern.slice(1);
  if (pattern[0] !== '*') return text[0] === pattern[0] && matchesByDefinition(rest, text.slice(1));
  return Array.from({ length: text.length + 1 }, (_, at) => at).some((at) => matchesByDefinition(rest, text.slice(at)));
}
